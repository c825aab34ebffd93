"""Splits arithmetic expressions into tokens."""

from dataclasses import dataclass

OPERATORS = "+-*/()=,"


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    position: int


class LexError(ValueError):
    pass


def number_end(text, start):
    """Where the number that begins at `start` ends."""
    end = start
    dots = 0
    while end < len(text) and (text[end].isdigit() or text[end] == "."):
        dots += text[end] == "."
        end += 1
    if dots > 1:
        raise LexError(f"two dots in a number at {start}")
    return end


def name_end(text, start):
    """Where the name that begins at `start` ends."""
    end = start
    while end < len(text) and text[end].isalnum():
        end += 1
    return end


def tokens(text):
    """The tokens of `text`, in order."""
    result = []
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
            continue
        if char.isdigit():
            end, kind = number_end(text, at), "number"
        elif char.isalpha():
            end, kind = name_end(text, at), "name"
        elif char in OPERATORS:
            end, kind = at + 1, "operator"
        else:
            raise LexError(f"unexpected {char!r} at {at}")
        result.append(Token(kind, text[at:end], at))
        at = end
    return result
