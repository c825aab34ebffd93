"""A regular expression of a test read back as the text that it stands for."""

from __future__ import annotations

import re

HOLE = "\0"
"""Stands for text that a pattern leaves open."""
_OPEN = re.compile(r"\\[dwsDWS][+*?]?|\.[+*]\??|\[[^\]]*\][+*?]?|\(\?:[^()]*\)|\([^()]*\)")


def plain(pattern: str) -> str:
    """The shortest text that `pattern` plainly stands for, HOLE where it leaves open what comes; anchors left out."""
    text, at = "", 0
    pattern = pattern.removeprefix("^").removeprefix(r"\A")
    pattern = pattern.removesuffix(r"\Z")
    if pattern.endswith("$") and not pattern.endswith(r"\$"):
        pattern = pattern[:-1]
    while at < len(pattern):
        found = _OPEN.match(pattern, at)
        if found is not None and not (found.group().startswith("(") and _spoken(found.group())):
            text += HOLE if not text.endswith(HOLE) else ""
            at = found.end()
        elif pattern[at] == "\\" and at + 1 < len(pattern):
            following = pattern[at + 1]
            text += {"n": "\n", "t": "\t", "b": ""}.get(following, following)
            at += 2
        else:
            text += pattern[at]
            at += 1
    return text.removeprefix(HOLE) if text != HOLE else ""


def _spoken(group: str) -> bool:
    """Whether brackets in a pattern are more likely text: `(s)`, `()`; tests often forget to escape them."""
    return not re.search(r"[|\\*+\[]|\?:", group)
