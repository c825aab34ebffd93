"""Run-length encoding of text."""


def runs(text):
    """(character, count) of every run."""
    result = []
    count = 0
    for index, char in enumerate(text):
        count += 1
        if index + 1 == len(text) or text[index + 1] != char:
            result.append((char, count))
    return result


def encode(text):
    """aaab → 3ab. Digits can't be encoded."""
    if any(char.isdigit() for char in text):
        raise ValueError("digits can't be encoded")
    return "".join((str(count) if count > 1 else "") + char for char, count in runs(text))


def decode(code):
    """The reverse of encode."""
    text = []
    digits = ""
    for char in code:
        if char.isdigit():
            digits += char
        else:
            text.append(char * int(digits or 1))
            digits = ""
    if digits:
        raise ValueError("a count without a character at the end")
    return "".join(text)


def longest(text):
    """The longest run, the first of equals; None of nothing."""
    return max(runs(text), key=lambda run: run[1], default=None)
