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


Changes = Sequence[Change]
Mutator = Callable[[Unit, random.Random], Changes | None]
"""Gives changes that belong together, none of which overlap, or None where the part has no place for them."""


def applied(text: str, changes: Changes) -> str:
    for change in sorted(changes, key=lambda change: change.start, reverse=True):
        text = text[: change.start] + change.new + text[change.end :]
    return text


def swapped(unit: Unit, one: tuple[int, int], two: tuple[int, int]) -> Changes:
    return Change(*one, unit.text[slice(*two)]), Change(*two, unit.text[slice(*one)])
