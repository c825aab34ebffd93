"""What lies between two versions of a file as edits that each take one change back.

Lines are compared without their ends: git may have converted these, and an edit keeps those that are there.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deskagent.repair.source import SourceFile
from deskagent.repair.types import Edit

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_WORD = re.compile(r"\w+|\s+|.")
_JUNK_FROM = 2000  # lines; beyond, popular lines are no anchors, else the comparison takes minutes
_ALIGNED = 60  # lines; a larger block isn't taken apart by likeness
_ALIKE = 0.5


@dataclass(frozen=True)
class Hunk:
    """One change of one file as it is now: `edit` takes it back. `first` to `last` are the 1-based lines of the file
    that came with it (the two around it where it only took lines away), `gone` and `came` the lines' text."""

    edit: Edit
    first: int
    last: int
    gone: tuple[str, ...]
    came: tuple[str, ...]

    @property
    def path(self) -> str:
        return self.edit.path

    @property
    def size(self) -> int:
        """Lines that it took away and brought."""
        return len(self.gone) + len(self.came)


class _Lines:
    """A file's lines without their ends, and where each begins in the UTF-8 text."""

    def __init__(self, source: SourceFile) -> None:
        raw = _LINE.findall(source.text)
        self.path = source.path
        self.text = [line.rstrip("\r\n") for line in raw]
        self.starts = list(itertools.accumulate((len(line.encode("utf-8")) for line in raw), initial=0))
        self.open = bool(raw) and raw[-1] == self.text[-1]  # no line end at the end of the file


def hunks(then: SourceFile, now: SourceFile) -> list[Hunk]:
    """The changes from `then` to `now`, in order, as edits of `now`."""
    old, new = _Lines(then), _Lines(now)
    return [
        _hunk(new, old.text[i:j], k, m) for i, j, k, m in _different(old.text, new.text)
    ]  # fmt: skip


def atoms(hunk: Hunk, now: SourceFile) -> list[Hunk]:
    """The parts of a hunk: each changed line by itself, lines that came and lines that went in groups."""
    if hunk.size <= 2 and not (len(hunk.gone) == 2 or len(hunk.came) == 2):
        return [hunk]
    new = _Lines(now)
    at = hunk.first - 1 if hunk.came else new.starts.index(hunk.edit.start)
    return [
        _hunk(new, list(hunk.gone[i:j]), at + k, at + m) for i, j, k, m in _aligned(hunk.gone, hunk.came)
    ]  # fmt: skip


def words(hunk: Hunk, now: SourceFile) -> list[Hunk]:
    """The parts of a line that changed, where the hunk is one line that became another; else the hunk itself."""
    if (len(hunk.gone), len(hunk.came)) != (1, 1):
        return [hunk]
    old, new = _WORD.findall(hunk.gone[0]), _WORD.findall(hunk.came[0])
    starts = list(itertools.accumulate((len(word.encode("utf-8")) for word in new), initial=hunk.edit.start))
    return [
        Hunk(Edit(now.path, starts[k], starts[m], "".join(old[i:j])), hunk.first, hunk.last,
             ("".join(old[i:j]),), ("".join(new[k:m]),))
        for i, j, k, m in _different(old, new)
    ]  # fmt: skip


Span = tuple[int, int, int, int]
"""Lines [i, j) of the old text against lines [k, m) of the new."""


def _hunk(new: _Lines, gone: list[str], k: int, m: int) -> Hunk:
    count = len(new.text)
    text = "".join(f"{line}\n" for line in gone)
    if gone and m == count and new.open:
        # The file has no final line end, and gets none.
        text = f"\n{text[:-1]}" if k == m and count else text[:-1]
    edit = Edit(new.path, new.starts[k], new.starts[m], text)
    first, last = (k + 1, m) if m > k else (max(1, k), max(1, min(count, k + 1)))
    return Hunk(edit, first, last, tuple(gone), tuple(new.text[k:m]))


def _different(old: Sequence[str], new: Sequence[str]) -> Iterator[Span]:
    """Spans that differ. What both share at their ends is taken off first."""
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    one, two = old[head : len(old) - tail], new[head : len(new) - tail]
    junk = max(len(one), len(two)) > _JUNK_FROM
    for kind, i, j, k, m in difflib.SequenceMatcher(None, one, two, autojunk=junk).get_opcodes():
        if kind != "equal":
            yield head + i, head + j, head + k, head + m


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[Span]:
    """Pairs of like lines, and what lies between them. Blocks of one length are paired line by line."""
    if len(old) == len(new):
        yield from ((i, i + 1, i, i + 1) for i in range(len(old)))
        return
    pairs = _pairs(old, new) if max(len(old), len(new)) <= _ALIGNED else []
    i = k = 0
    for one, two in [*pairs, (len(old), len(new))]:
        if i < one:
            yield i, one, k, k
        if k < two:
            yield one, one, k, two
        if one < len(old):
            yield one, one + 1, two, two + 1
        i, k = one + 1, two + 1


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Which old line became which new one: the pairs in order that are most alike together."""
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    like = [[_likeness(a.strip(), b.strip()) for b in new] for a in old]
    for i in range(len(old) - 1, -1, -1):
        for k in range(len(new) - 1, -1, -1):
            paired = like[i][k] + best[i + 1][k + 1] if like[i][k] >= _ALIKE else 0.0
            best[i][k] = max(best[i + 1][k], best[i][k + 1], paired)
    pairs, i, k = [], 0, 0
    while i < len(old) and k < len(new):
        if best[i][k] == best[i + 1][k]:
            i += 1
        elif best[i][k] == best[i][k + 1]:
            k += 1
        else:
            pairs.append((i, k))
            i, k = i + 1, k + 1
    return pairs


def _likeness(one: str, two: str) -> float:
    matcher = difflib.SequenceMatcher(None, one, two, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0
