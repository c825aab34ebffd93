"""Reads unified diffs, also such as models write: with wrong counts, wrong line numbers, or none."""

from __future__ import annotations

import ast
import re

from deskagent.tools.patches.form import Do, FilePatch, Hunk, PatchError, Row

_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOWHERE = "/dev/null"
_STARTS = ("diff --git ", "@@", "Index: ", "GIT binary patch", "Binary files ")


def parse(text: str) -> list[FilePatch]:
    """Errors: PatchError."""
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if not line.startswith("```")]
    found: list[FilePatch] = []
    head: list[str] = []
    at = 0
    while at < len(lines):
        if lines[at].startswith(("GIT binary patch", "Binary files ")):
            raise PatchError("The patch holds binary data.")
        if _names(lines, at):
            hunks, after = _hunks(lines, at + 2)
            found.append(_file(lines[at][4:], lines[at + 1][4:], hunks))
            head, at = [], after
            continue
        if lines[at].startswith("diff --git "):
            found += _bare(head)
            head = []
        head.append(lines[at])
        at += 1
    found += _bare(head)
    if not found:
        raise PatchError("The patch is no unified diff: no lines --- and +++ name a file.")
    return found


def _names(lines: list[str], at: int) -> bool:
    """Whether the names of a file's two sides stand here."""
    return lines[at].startswith("--- ") and lines[at + 1 : at + 2] != [] and lines[at + 1].startswith("+++ ")


def _file(old: str, new: str, hunks: list[Hunk]) -> FilePatch:
    before, after = _path(old), _path(new)
    if before.startswith("a/") and after == _NOWHERE:
        before = before[2:]
    elif before == _NOWHERE and after.startswith("b/"):
        after = after[2:]
    elif before.startswith("a/") and after.startswith("b/"):
        before, after = before[2:], after[2:]
    if before == _NOWHERE == after:
        raise PatchError("A file of the patch has no name.")
    if before == _NOWHERE:
        return FilePatch(after, Do.ADD, hunks=tuple(hunks))
    if after == _NOWHERE:
        return FilePatch(before, Do.DELETE)
    return FilePatch(before, Do.UPDATE, after if after != before else "", tuple(hunks))


def _path(written: str) -> str:
    """A name without the time behind it, and without git's quotes."""
    name = written.split("\t")[0].strip()
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        try:
            return ast.literal_eval(f"b{name}").decode("utf-8", "surrogateescape")
        except (SyntaxError, ValueError):
            return name[1:-1]
    return name


def _bare(head: list[str]) -> list[FilePatch]:
    """What git says of a file without hunks: renamed, or empty and made or removed."""
    named = re.fullmatch(r'diff --git ("?)a/(.+)\1 ("?)b/(.+)\3', head[0]) if head else None
    if named is None:
        return []
    before, after = _path(f"{named[1]}{named[2]}{named[1]}"), _path(f"{named[3]}{named[4]}{named[3]}")
    if any(line.startswith("rename from ") for line in head):
        return [FilePatch(before, Do.UPDATE, after)]
    if any(line.startswith("new file mode") for line in head):
        return [FilePatch(after, Do.ADD)]
    return (
        [FilePatch(before, Do.DELETE)] if any(line.startswith("deleted file mode") for line in head) else []
    )


def _hunks(lines: list[str], at: int) -> tuple[list[Hunk], int]:
    """The hunks from here on, and where they end."""
    found: list[Hunk] = []
    while at < len(lines) and lines[at].startswith("@@"):
        head = _HEAD.match(lines[at])
        end = _counted(lines, at + 1, head) if head else None
        exact = end is not None
        end = _until(lines, at + 1) if end is None else end
        rows = lines[at + 1 : end]
        while rows and not exact and not rows[-1]:
            rows.pop()
        if rows:
            found.append(_hunk(rows, int(head[1]) if head else 0, at + 1))
        at = end
        while at < len(lines) and not lines[at].strip():
            at += 1
    return found, at


def _counted(lines: list[str], at: int, head: re.Match[str]) -> int | None:
    """The end of a hunk by its head's counts; None where they aren't right."""
    old, new = (int(count) if count is not None else 1 for count in (head[2], head[4]))
    while (old or new) and at < len(lines):
        sign = lines[at][:1] or " "
        if sign not in " +-\\":
            return None
        old -= sign in " -"
        new -= sign in " +"
        at += 1
    if old or new:
        return None
    at += lines[at : at + 1] != [] and lines[at].startswith("\\")
    over = at >= len(lines) or not lines[at] or lines[at].startswith(_STARTS) or _names(lines, at)
    return at if over else None


def _until(lines: list[str], at: int) -> int:
    """The end of a hunk by what no hunk holds."""
    while at < len(lines) and not lines[at].startswith(_STARTS) and not _names(lines, at):
        if lines[at] and lines[at][0] not in " +-\\":
            break
        at += 1
    return at


def _hunk(written: list[str], line: int, number: int) -> Hunk:
    rows: list[Row] = []
    lacks: set[str] = set()
    for text in written:
        if text.startswith("\\"):
            lacks |= {rows[-1][0]} if rows else set()
        else:
            rows.append((text[:1] or " ", text[1:]))
    if not any(sign in "+-" for sign, _ in rows):
        raise PatchError(f"The hunk at line {number} of the patch changes nothing.")
    ends = (not lacks & {" ", "-"}, not lacks & {" ", "+"}) if lacks else None
    return Hunk(tuple(rows), line, ends=ends)
