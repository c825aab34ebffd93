"""Puts hunks into a file: each where its lines stand, once; only lines that go or come change a byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.types import Edit
from deskagent.tools.patches.form import Hunk, PatchError

_ENDS = {"\r": re.compile(rb"\r\n|\n|\r"), "\n": re.compile(rb"\r?\n"), "\r\n": re.compile(rb"\r?\n")}
_LOOSE: tuple[Callable[[str], str], ...] = (str, str.rstrip)
"""How lines are compared, the exact way first: models lose blanks at the ends of lines."""


@dataclass(frozen=True, slots=True)
class _Line:
    """start, end: bytes of its text in the file's UTF-8. after: with its line end."""

    text: str
    start: int
    end: int
    after: int


def put(file: SourceFile, hunks: Sequence[Hunk]) -> bytes:
    """The file's bytes with the hunks in it. Errors: PatchError for a hunk with no place or several."""
    lines = _lines(file)
    edits: list[Edit] = []
    at, drift = 0, 0
    for number, hunk in enumerate(hunks, 1):
        place = _place(file, lines, hunk, at, drift, number)
        edits += _edits(file, lines, hunk, place)
        drift = place + 1 - hunk.line if hunk.line else drift
        at = place + len(hunk.old)
    try:
        return file.apply(edits)
    except SourceError as error:
        raise PatchError(f"{error.message}.") from error


def _lines(file: SourceFile) -> list[_Line]:
    found, start = [], 0
    for end in _ENDS[file.newline].finditer(file.utf8):
        found.append(_line(file, start, end.start(), end.end()))
        start = end.end()
    if start < len(file.utf8):
        found.append(_line(file, start, len(file.utf8), len(file.utf8)))
    return found


def _line(file: SourceFile, start: int, end: int, after: int) -> _Line:
    return _Line(file.utf8[start:end].decode("utf-8"), start, end, after)


def _place(file: SourceFile, lines: Sequence[_Line], hunk: Hunk, at: int, drift: int, number: int) -> int:
    """The index of the line that the hunk begins at, not before `at`."""
    what = f"Hunk {number} of {file.path}"
    for anchor in hunk.anchors:
        at = _anchored(lines, anchor, at, what)
    old = hunk.old
    if not old:
        return _bare(lines, hunk, at, what)
    for loosely in _LOOSE:
        wanted = [loosely(text) for text in old]
        texts = [loosely(line.text) for line in lines]
        found = [
            index
            for index in range(at, len(lines) - len(old) + 1)
            if texts[index] == wanted[0] and texts[index : index + len(old)] == wanted
        ]
        if hunk.last and len(lines) - len(old) in found:
            return len(lines) - len(old)
        if hunk.anchors and found:
            return found[0]
        if len(found) == 1:
            return found[0]
        stated = [index for index in (hunk.line - 1, hunk.line - 1 + drift) if hunk.line and index in found]
        if stated:
            return stated[-1]
        if found:
            where = ", ".join(str(index + 1) for index in found[:10])
            raise PatchError(f"{what} fits {len(found)} places (lines {where}). Give more lines around it.")
    raise PatchError(f"{what} fits nowhere{_nearest(lines, old)}. Read the file again.")


def _anchored(lines: Sequence[_Line], anchor: str, at: int, what: str) -> int:
    for index in range(at, len(lines)):
        if lines[index].text.strip() == anchor.strip():
            return index + 1
    for index in range(at, len(lines)):
        if lines[index].text.strip().startswith(anchor.strip()):
            return index + 1
    raise PatchError(f"{what}: no line {anchor!r} stands in the file, or none behind the hunk before.")


def _bare(lines: Sequence[_Line], hunk: Hunk, at: int, what: str) -> int:
    """The place of a hunk that only adds and shows nothing that stands beside it."""
    if hunk.last or not lines:
        return len(lines)
    if hunk.anchors:
        return at
    if hunk.line and at <= hunk.line <= len(lines):
        return hunk.line  # as diffs without context count: behind that line
    raise PatchError(f"{what} only adds: give a line that stands before or behind it.")


def _edits(file: SourceFile, lines: Sequence[_Line], hunk: Hunk, place: int) -> list[Edit]:
    found: list[Edit] = []
    index, first, new = place, place, list[str]()

    def close() -> None:
        nonlocal new
        if new or index > first:
            found.append(_edit(file, lines, (first, index), new, hunk))
        new = []

    for sign, text in (*hunk.rows, (" ", "")):
        if sign == "+":
            new.append(text)
            continue
        if sign == " ":
            close()
            index += 1
            first = index
        else:
            index += 1
    return found


def _edit(
    file: SourceFile, lines: Sequence[_Line], span: tuple[int, int], new: list[str], hunk: Hunk
) -> Edit:
    """Lines `span` become `new`. The file's last line has an end, or none, as before, unless the hunk says."""
    first, until = span
    start = lines[first].start if first < len(lines) else len(file.utf8)
    end = lines[until - 1].after if until > first else start
    text = "".join(f"{line}\n" for line in new)
    if until >= len(lines) and new:
        ended = not lines or lines[-1].after > lines[-1].end
        if first >= len(lines) and lines and not ended:
            text = f"\n{text}"
        if not (hunk.ends[1] if hunk.ends else ended):
            text = text[:-1]
    return Edit(file.path, start, end, text)


def _nearest(lines: Sequence[_Line], old: Sequence[str]) -> str:
    """How far the hunk fits where it fits best, so that the next try can be exact."""
    best, length = 0, 0
    texts = [line.text.rstrip() for line in lines]
    wanted = [text.rstrip() for text in old]
    for index in range(len(texts)):
        fits = next(
            (n for n, text in enumerate(wanted) if texts[index + n : index + n + 1] != [text]), len(wanted)
        )
        if fits > length:
            best, length = index, fits
    if not length:
        return ""
    row = best + length
    there = f"there is {texts[row]!r}" if row < len(texts) else "the file ends"
    return f"; from line {best + 1} it fits up to line {row}, then {there}, not {old[length]!r}"
