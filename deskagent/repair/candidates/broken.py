"""A file that doesn't parse: the small slips that make it so, tried at the line of the error and the one before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, shorten
from deskagent.repair.syntax import Syntax

_HEADER = re.compile(r"\s*(?:if|elif|else|for|while|def|class|with|try|except|finally|async|match|case)\b")
_ASSIGNED_TEST = re.compile(r"(?<![=!<>:+\-*/%&|^])=(?!=)")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def repairs(syntax: Syntax, line: int) -> Iterator[Proposal]:
    """Edits of the 1-based `line` that may let the file parse again; whoever takes them compiles the result."""
    for row, share in ((line - 1, 1.0), (line - 2, 0.8)):
        if not 0 <= row < len(syntax.starts):
            continue
        start, end = syntax.line_start(row), syntax.line_end(row)
        text = syntax.source.utf8[start:end].decode("utf-8", "replace")
        if not text.isascii():
            continue  # offsets below count characters
        bare = text.split("#")[0].rstrip()
        for at, stop, new, weight in _slips(bare, syntax.unit):
            edit = (start + at, start + stop, new)
            changed = text[:at] + new + text[stop:]
            yield Proposal(
                "syntax.slip",
                weight * share,
                (edit,),
                f"{shorten(text.strip())} → {shorten(changed.strip())}",
            )
        indent = text[: len(text) - len(text.lstrip())]
        if _HEADER.match(text) and bare.endswith(":"):
            new = f"\n{indent}{syntax.unit}pass"
            yield Proposal("syntax.slip", 0.5 * share, ((end, end, new),), "insert pass")


def _slips(text: str, unit: str) -> Iterator[tuple[int, int, str, float]]:
    """(start, end, new text, weight) in a line without its comment."""
    size = len(text)
    if not size:
        return
    if _HEADER.match(text):
        if not text.endswith(":"):
            yield size, size, ":", 1.0
        for match in _ASSIGNED_TEST.finditer(text):
            yield match.start(), match.end(), "==", 0.9
    missing = _unclosed(text)
    if missing:
        yield size, size, missing, 1.0
        if text.endswith((":", ",")):
            yield size - 1, size - 1, missing, 1.0
    for index, letter in enumerate(text):
        if letter in "()[]{}\"'":
            yield index, index + 1, "", 0.5 if letter in ")]}" else 0.3
    for quote in "\"'":
        if text.count(quote) % 2:
            yield size, size, quote, 0.9
            for index in range(size - 1, max(0, size - 4), -1):
                yield index, index, quote, 0.6
    for closing in ")]}":
        yield size, size, closing, 0.6
    if text.endswith((")", "]", "}", '"', "'")) or text[-1].isalnum():
        yield size, size, ",", 0.6
    yield 0, 0, unit, 0.6
    if text.startswith(unit):
        yield 0, len(unit), "", 0.6
    if text[0] in " \t":
        yield 0, 1, "", 0.4
        yield 0, 0, " ", 0.4
    yield 0, size, "", 0.1


def _unclosed(text: str) -> str:
    """The closing brackets that the line lacks, strings left aside."""
    stack: list[str] = []
    for letter in re.sub(r"'[^']*'|\"[^\"]*\"", "", text):
        if letter in _PAIRS:
            stack.append(_PAIRS[letter])
        elif stack and letter == stack[-1]:
            stack.pop()
    return "".join(reversed(stack))
