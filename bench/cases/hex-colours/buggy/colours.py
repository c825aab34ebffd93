"""Colours as #rrggbb or #rgb."""

import re

COLOUR = re.compile(r"#(?:[0-9a-f]{6}|[0-9a-f]{3})\b")


def parse(text):
    """(red, green, blue) from 0 to 255."""
    match = COLOUR.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no colour: {text!r}")
    digits = match.group()[1:]
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return tuple(int(digits[at:at + 2], 16) for at in (0, 2, 4))


def show(colour):
    return "#" + "".join(f"{part:02x}" for part in colour)


def mix(one, other):
    """The colour half way between two."""
    return show(tuple((a + b) // 2 for a, b in zip(parse(one), parse(other))))


def find_all(text):
    """Every colour that a text mentions."""
    return COLOUR.findall(text)
