"""A changed file as the rows that a person reads: hunks with some lines around them, inline or side by side."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from deskagent.agent.reviewing import Changed
from deskagent.repair.diff import split
from ui.log.inert import inert

AROUND = 3
"""Lines that are shown before and after a hunk."""
OPEN = " ⟨no line end⟩"
_WORD = re.compile(r"\w+|\s+|.")


@dataclass(frozen=True)
class Row:
    """hunk: the number of the hunk that it belongs to, -1 where it is around one. old, new: numbers of the lines before
    and after, from 0, None where there is none. head: it is the hunk's title and has no line. gap: lines are left out
    here."""

    hunk: int = -1
    old: int | None = None
    new: int | None = None
    head: bool = False
    gap: bool = False


def rows(file: Changed, *, beside: bool) -> list[Row]:
    """Those of a file, from its top to its bottom."""
    found: list[Row] = []
    at = 0, 0  # lines before and after that are behind us
    for number, hunk in enumerate(file.hunks):
        same = hunk.old[0] - at[0]
        behind = min(AROUND, same) if number else 0
        ahead = min(AROUND, same - behind)
        found += _same(at[0], at[0] + behind, at)
        if behind + ahead < same:
            found.append(Row(gap=True))
        found.append(Row(number, head=True))
        found += _same(hunk.old[0] - ahead, hunk.old[0], at)
        found += (_beside if beside else _inline)(number, hunk.old, hunk.new)
        at = hunk.old[1], hunk.new[1]
    last = len(split(file.before or b""))
    found += _same(at[0], min(at[0] + AROUND, last), at)
    if at[0] + AROUND < last:
        found.append(Row(gap=True))
    return found


def _same(first: int, last: int, at: tuple[int, int]) -> Iterator[Row]:
    """Lines [first, last) of the old file, of which line at[0] is line at[1] of the new one."""
    return (Row(old=line, new=line - at[0] + at[1]) for line in range(first, last))


def _inline(number: int, old: tuple[int, int], new: tuple[int, int]) -> Iterator[Row]:
    yield from (Row(number, old=line) for line in range(*old))
    yield from (Row(number, new=line) for line in range(*new))


def _beside(number: int, old: tuple[int, int], new: tuple[int, int]) -> Iterator[Row]:
    yield from (Row(number, one, other) for one, other in zip_longest(range(*old), range(*new)))


def text(raw: bytes | None) -> list[str]:
    """Lines of a file made inert, without their ends; that the last one has none is said. A carriage return before the
    end shows only where not every line has one."""
    lines = [line.decode("utf-8", "replace") for line in split(raw or b"")]
    ends = {line.endswith("\r\n") for line in lines if line.endswith("\n")}
    strip = "\r\n" if ends == {True} else "\n"
    shown = [inert(line.removesuffix(strip), newlines=False).expandtabs(4) for line in lines]
    if lines and not lines[-1].endswith("\n"):
        shown[-1] += OPEN
    return shown


def differing(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where two lines differ, as spans of each; none at all where they have little in common, since then everything
    would be marked."""
    one, other = _WORD.findall(old), _WORD.findall(new)
    if len(one) + len(other) > 400:
        return [], []
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < 0.5:
        return [], []
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        for side, words, first, end in ((spans[0], one, i1, i2), (spans[1], other, j1, j2)):
            start = sum(map(len, words[:first]))
            if first < end:
                side.append((start, start + sum(map(len, words[first:end]))))
    return spans
