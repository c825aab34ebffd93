"""Reads patches between `*** Begin Patch` and `*** End Patch`, in which places are found by their lines alone."""

from __future__ import annotations

from deskagent.tools.patches.form import Do, FilePatch, Hunk, PatchError, Row

BEGIN, END = "*** Begin Patch", "*** End Patch"
_FILES = {"*** Update File: ": Do.UPDATE, "*** Add File: ": Do.ADD, "*** Delete File: ": Do.DELETE}
_MOVE, _LAST = "*** Move to: ", "*** End of File"


def parse(text: str) -> list[FilePatch]:
    """Errors: PatchError, with the number of the line that can't be read."""
    lines = text.replace("\r\n", "\n").split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip() == BEGIN), None)
    if start is None:
        raise PatchError(f"The patch doesn't begin with `{BEGIN}`.")
    end = next((at for at in range(start, len(lines)) if lines[at].strip() == END), len(lines))
    found: list[FilePatch] = []
    at = start + 1
    while at < end:
        head = next((head for head in _FILES if lines[at].startswith(head)), None)
        if head is None:
            if lines[at].strip():
                raise PatchError(f"Line {at + 1} of the patch names no file: {lines[at][:80]!r}.")
            at += 1
            continue
        until = next(
            (row for row in range(at + 1, end) if lines[row].startswith(tuple(_FILES))),
            end,
        )
        found.append(_file(_FILES[head], lines[at][len(head) :].strip(), lines, at + 1, until))
        at = until
    if not found:
        raise PatchError("The patch names no file.")
    return found


def _file(do: Do, path: str, lines: list[str], at: int, end: int) -> FilePatch:
    while end > at and not lines[end - 1].strip():
        end -= 1
    moved = ""
    if at < end and lines[at].startswith(_MOVE):
        moved = lines[at][len(_MOVE) :].strip()
        at += 1
    if do is Do.DELETE:
        return FilePatch(path, do)
    hunks, rows, anchors, last = [], [], [], False

    def close() -> None:
        nonlocal rows, anchors, last
        if rows:
            hunks.append(Hunk(tuple(rows), anchors=tuple(anchors), last=last))
            anchors = []
        rows, last = [], False

    for number in range(at, end):
        line = lines[number]
        if line.startswith("@@") and do is Do.UPDATE:
            close()
            if anchor := line.removeprefix("@@").strip():
                anchors.append(anchor)
        elif line.strip() == _LAST and do is Do.UPDATE:
            last = True
        else:
            rows.append(_row(line, number, do))
    close()
    return FilePatch(path, do, moved, tuple(hunks))


def _row(line: str, number: int, do: Do) -> Row:
    if do is Do.ADD and line[:1] != "+":
        raise PatchError(f"Line {number + 1} of the patch: each line of a new file begins with +.")
    if not line:
        return (" ", "")
    if line[0] not in " +-":
        raise PatchError(f"Line {number + 1} of the patch begins with none of space, + and -: {line[:80]!r}.")
    return (line[0], line[1:])
