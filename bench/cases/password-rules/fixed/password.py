"""Rules for passwords."""


def long_enough(text):
    return len(text) >= 8


def has_digit(text):
    return any(char.isdigit() for char in text)


def has_mixed_case(text):
    return text != text.lower() and text != text.upper()


def not_common(text):
    return text.lower() not in {"password1", "letmein11", "qwerty123"}


RULES = [long_enough, has_digit, has_mixed_case, not_common]


def acceptable(text):
    """Whether `text` meets every rule."""
    for rule in RULES:
        if not rule(text):
            return False
    return True


def broken_rules(text):
    """Names of the rules that `text` breaks, in words."""
    return [rule.__name__.replace("_", " ") for rule in RULES if not rule(text)]
