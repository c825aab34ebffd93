"""Whole letters."""

from letters.greeting import CLOSING, greeting, price_line


def letter(person, text, euros=None):
    parts = [greeting(person), text.strip()]
    if euros is not None:
        parts.append(price_line(euros))
    parts.append(CLOSING)
    return "\n\n".join(parts)
