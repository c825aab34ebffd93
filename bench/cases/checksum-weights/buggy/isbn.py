"""Check digits of ISBN-10 numbers."""


class BadISBN(ValueError):
    pass


def digits(text):
    """The ten values of an ISBN; X stands for ten and only at the end."""
    text = text.replace("-", "").replace(" ", "").upper()
    if len(text) != 10:
        raise BadISBN(f"{len(text)} digits, 10 wanted")
    values = []
    for position, char in enumerate(text):
        if char == "X" and position == 10:
            values.append(10)
        elif char.isdigit():
            values.append(int(char))
        else:
            raise BadISBN(f"bad character {char!r}")
    return values


def valid(text):
    """Whether the check digit is right."""
    weighted = sum((10 - position) * value for position, value in enumerate(digits(text)))
    return weighted % 11 == 0


def check_digit(first_nine):
    """The last character for nine digits."""
    weighted = sum((10 - position) * int(char) for position, char in enumerate(first_nine))
    rest = -weighted % 11
    return "X" if rest == 10 else str(rest)
