"""Unified diffs of bytes: exact enough for `git apply`, whatever the line ends and encodings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from deskagent.repair.source import SourceError, SourceFile

Changes = Mapping[str, tuple[bytes | None, bytes | None]]
"""Path → (before, after); None where the file doesn't exist."""

_PLAIN = re.compile(r"[!#-\[\]-~]+(?: +[!#-\[\]-~]+)*")
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def unified(changes: Changes, *, context: int = 3) -> bytes:
    """The diff in git's form, in the files' own bytes."""
    pieces: list[bytes] = []
    for path, (before, after) in sorted(changes.items()):
        if before != after:
            pieces += _head(path, before, after)
            pieces += _hunks(split(before or b""), split(after or b""), context)
    return b"".join(pieces)


def readable(changes: Changes, *, context: int = 3) -> str:
    """The diff for people: each file decoded by its own encoding, carriage returns left out at line ends."""
    pieces: list[str] = []
    for path, (before, after) in sorted(changes.items()):
        if before == after:
            continue
        old, new = (_decoded(path, raw).encode() for raw in (before or b"", after or b""))
        parts = [*_head(path, before, after), *_hunks(split(old), split(new), context)]
        pieces.append(b"".join(parts).decode("utf-8", "replace"))
    return "".join(pieces).replace("\r\n", "\n")


def _decoded(path: str, raw: bytes) -> str:
    try:
        return SourceFile.from_bytes(path, raw).text
    except SourceError:
        return raw.decode("utf-8", "replace")


def split(raw: bytes) -> list[bytes]:
    """Lines as git sees them: a line feed ends one, nothing else does."""
    lines = raw.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _head(path: str, before: bytes | None, after: bytes | None) -> list[bytes]:
    old, new = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    head = [f"diff --git {old} {new}\n"]
    if before is None:
        head.append("new file mode 100644\n")
    elif after is None:
        head.append("deleted file mode 100644\n")
    if before or after:  # an empty file made or removed has no hunk and no names above it
        # git ends a name that holds a space with a tab.
        tab_old, tab_new = ("\t" if " " in name else "" for name in (old, new))
        head.append(f"--- {old}{tab_old}\n" if before is not None else "--- /dev/null\n")
        head.append(f"+++ {new}{tab_new}\n" if after is not None else "+++ /dev/null\n")
    return [line.encode() for line in head]


def _quoted(name: str) -> str:
    """A path as git writes it: quoted in C's manner if it holds anything unusual."""
    if _PLAIN.fullmatch(name):
        return name
    body = "".join(
        _ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in name.encode("utf-8", "surrogateescape")
    )
    return f'"{body}"'


def _hunks(before: list[bytes], after: list[bytes], context: int) -> list[bytes]:
    """Hunks by difflib's groups, with git's mark for a missing last line end."""
    pieces: list[bytes] = []
    for group in groups(before, after, context):
        first, last = group[0], group[-1]
        old = _range(first[1], last[2])
        new = _range(first[3], last[4])
        pieces.append(f"@@ -{old} +{new} @@\n".encode())
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                pieces += [_line(b" ", line) for line in before[i1:i2]]
                continue
            pieces += [_line(b"-", line) for line in before[i1:i2]]
            pieces += [_line(b"+", line) for line in after[j1:j2]]
    return pieces


def groups(
    before: list[bytes], after: list[bytes], context: int
) -> Iterator[list[tuple[str, int, int, int, int]]]:
    """difflib's groups. Lines shared at both ends are never given to it: that costs most, and it might align
    them otherwise, so that a hunk in the middle would end without context, which git takes for the end of file."""
    smaller = min(len(before), len(after))
    pairs = zip(before, after, strict=False)
    head = next((i for i, (a, b) in enumerate(pairs) if a != b), smaller)
    backwards = zip(reversed(before), reversed(after), strict=False)
    tail = next((i for i, (a, b) in enumerate(backwards) if a != b or i >= smaller - head), smaller - head)
    ends = len(before) - tail, len(after) - tail
    middle = difflib.SequenceMatcher(None, before[head : ends[0]], after[head : ends[1]], autojunk=False)
    codes = [
        (tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in middle.get_opcodes()
    ]
    if head:
        codes.insert(0, ("equal", 0, head, 0, head))
    if tail:
        codes.append(("equal", ends[0], len(before), ends[1], len(after)))
    yield from _WorkedOut(codes).get_grouped_opcodes(context)


class _WorkedOut(difflib.SequenceMatcher[bytes]):
    """A comparison whose outcome is known; lends difflib's grouping."""

    def __init__(self, codes: list[Any]) -> None:
        super().__init__(None, [], [])
        self.codes = codes

    def get_opcodes(self) -> list[Any]:
        return self.codes


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n\\ No newline at end of file\n"
