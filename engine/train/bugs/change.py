"""What a mutator gives: pieces of the text that are replaced."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.train.bugs.source import Unit


@dataclass(frozen=True, slots=True)
class Change:
    """[start, end) of the text becomes `new`."""

    start: int
    end: int
    new: str


_APART = 2
"""Lines between two bugs, at least, so that their edits stay two."""
Changes = Sequence[Change]
Mutator = Callable[[Unit, random.Random], Changes | None]
"""Gives changes that belong together, none of which overlap, or None where the part has no place for them."""


def applied(text: str, changes: Changes) -> str:
    for change in sorted(changes, key=lambda change: change.start, reverse=True):
        text = text[: change.start] + change.new + text[change.end :]
    return text


def apart(text: str, changes: Changes, taken: Changes) -> bool:
    """Whether there are lines enough between the new changes and those before for their edits to stay apart."""
    new, old = ([_rows(text, change) for change in each] for each in (changes, taken))
    return all(last + _APART < start or end + _APART < first for first, last in new for start, end in old)


def _rows(text: str, change: Change) -> tuple[int, int]:
    return text.count("\n", 0, change.start), text.count("\n", 0, change.end)


def swapped(unit: Unit, one: tuple[int, int], two: tuple[int, int]) -> Changes:
    return Change(*one, unit.text[slice(*two)]), Change(*two, unit.text[slice(*one)])
