"""Foreign text as the app draws it: nothing that steers a terminal, no letters whose width terminals disagree on."""

from __future__ import annotations

import re

from deskagent.terminal.text import printable

# Variation selectors, the keycap and skin tones: they change how the letter before them looks, and by that how wide
# terminals take it for. Two letters of a flag are a letter each.
_CHANGES = re.compile("[\ufe00-\ufe0f\u20e3\U0001f3fb-\U0001f3ff]")
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")


def inert(text: str, *, newlines: bool = True) -> str:
    """As `printable`; emoji in their plain form, flags as the letters of their countries."""
    if text.isascii():
        return printable(text, newlines=newlines)
    plain = _FLAG.sub(lambda found: chr(ord(found[0]) - 0x1F1E6 + ord("A")), _CHANGES.sub("", text))
    return printable(plain, newlines=newlines)
