"""What is shown of a file with a bug: the lines that a question shows of the bug's place."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.prompt import excerpt as rule
from engine.train.bugs.parts import Part, functions


@dataclass(frozen=True, slots=True)
class Excerpt:
    """shown: lines of the file, with a bug. meant: the same without. Neither ends in a blank line."""

    shown: str
    meant: str


def excerpt(part: Part, text: str, rng: random.Random) -> Excerpt | None:
    """What is shown where the part has become `text`; any place of it may be asked about where that is no other text.

    None where what differs isn't all within.
    """
    old, new = part.lines[part.first : part.last], text.split("\n")
    first = _same(old, new)
    behind = min(_same(old[::-1], new[::-1]), min(len(old), len(new)) - first)
    lines = [*part.lines[: part.first], *new, *part.lines[part.last :]]
    if old == new:
        said = [number for number, line in enumerate(new) if _is_said(line)]
        if not said:
            return None
        first = rng.choice(said)
        behind = len(new) - first
    start, end = rows(part, lines, part.first + _said(new, first))
    if not start <= part.first + first <= part.first + len(new) - behind <= end:
        return None
    above, below = lines[start : part.first + first], lines[part.first + len(new) - behind : end]
    shown = [*above, *new[first : len(new) - behind], *below]
    meant = [*above, *old[first : len(old) - behind], *below]
    return Excerpt("\n".join(shown).rstrip("\n"), "\n".join(meant).rstrip("\n"))


def rows(part: Part, lines: Sequence[str], row: int) -> tuple[int, int]:
    """Rows [first, last) that are shown of a row of the file that the part is of, which has become `lines`."""
    ends = accumulate((len(line) if line.isascii() else len(line.encode())) + 1 for line in lines)
    starts = [0, *ends]
    starts[-1] -= 1  # no line end stands behind the last
    around = [(part.first, part.last + len(lines) - len(part.lines))] if part.alone else functions(lines, row)
    return rule.rows(starts, row, around)


def _said(lines: Sequence[str], at: int) -> int:
    """The line of a statement at a place or before it, else the first: an edit is always beside one."""
    return next((row for row in range(min(at, len(lines) - 1), -1, -1) if _is_said(lines[row])), 0)


def _is_said(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(("#", "@"))


def _same(one: Sequence[str], two: Sequence[str]) -> int:
    number = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        number += 1
    return number
