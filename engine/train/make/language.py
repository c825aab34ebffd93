"""Language modelling: a part of a file, sometimes behind what it imports from other files of its package."""

from __future__ import annotations

import re
from random import Random

from engine.prompt.render import Marker
from engine.train.corpus.files import Document
from engine.train.example import Example, Piece
from engine.train.library import Library

_IN_CONTEXT = 0.35
"""Share of Python files that are shown with what they import."""
_WHOLE = 0.25
"""Share that begins where the file does: imports and headers come too."""
_MOST_FILES = 3
_MOST_LINES = 24


def lm(library: Library, document: Document, random: Random) -> Example | None:
    room = library.letters
    pieces: Example = []
    if document.language == "python" and random.random() < _IN_CONTEXT:
        for path, text in _context(library, document, random, room // 2):
            pieces += file(path, text, closed=True)
            room -= len(text)
    start = 0 if random.random() < _WHOLE else _line_start(document.text, random)
    text = document.text[start : start + room]
    if not text.strip():
        return None
    return pieces + file(document.path, text, closed=start + room >= len(document.text))


def file(path: str, text: str, *, closed: bool) -> Example:
    """closed: whether the file ends there."""
    head = [Marker.OPEN, f'file path="{path}"', Marker.SEP]
    tail = [Marker.CLOSE, "file", Marker.SEP] if closed else []
    return [*(Piece(part, False) for part in head), *(Piece(part, True) for part in (text, *tail))]


def _context(library: Library, document: Document, random: Random, room: int) -> list[tuple[str, str]]:
    """Path and excerpt of files, each from where an imported name is defined."""
    imported = library.imported(document)
    shown: dict[str, str] = {}
    for there, names in random.sample(imported, min(_MOST_FILES, len(imported))):
        part = _definition(there.text, random.choice(names)) if names else None
        if part and there.path not in shown and len(part) <= room:
            shown[there.path] = part
            room -= len(part)
    return list(shown.items())


def _definition(text: str, name: str) -> str | None:
    found = re.search(
        rf"^(?:async def|def|class) {re.escape(name)}\b|^{re.escape(name)}\b.*=", text, re.MULTILINE
    )
    if found is None:
        return None
    lines = text[found.start() :].splitlines(keepends=True)[:_MOST_LINES]
    # the definition ends where the next one at its level begins
    last = next((at for at, line in enumerate(lines) if at and line[0] not in " \t\n)]}#"), len(lines))
    return "".join(lines[:last])


def _line_start(text: str, random: Random) -> int:
    return text.rfind("\n", 0, random.randrange(len(text))) + 1
