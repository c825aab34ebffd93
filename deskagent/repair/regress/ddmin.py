"""Delta debugging: the smallest part of a set of changes that still does what the whole does.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002: `ddmin`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Shrunk(Generic[T]):
    """`items` works; where `minimal`, it doesn't any more when any single one of them is left out."""

    items: tuple[T, ...]
    minimal: bool


def minimise(
    items: Sequence[T], works: Callable[[tuple[T, ...]], bool], *, stop: Callable[[], bool] = lambda: False
) -> Shrunk[T]:
    """Shrinks `items`, which work, keeping their order. `works` is asked once for each subset, never for the whole or
    for nothing; when `stop` says so, the smallest that is known to work is returned.

    Items are told apart by their place, so equal ones may occur.
    """
    known: dict[tuple[int, ...], bool] = {}

    def ask(places: tuple[int, ...]) -> bool:
        if places not in known:
            known[places] = works(tuple(items[i] for i in places))
        return known[places]

    now = tuple(range(len(items)))
    parts = 2
    while len(now) > 1:
        found = None
        for part, wanted in _tries(now, parts):
            if stop():
                return Shrunk(tuple(items[i] for i in now), minimal=False)
            if ask(part):
                found = part, wanted
                break
        if found is not None:
            now, parts = found
            parts = max(2, min(parts, len(now)))
        elif parts < len(now):
            parts = min(len(now), 2 * parts)
        else:
            break
    return Shrunk(tuple(items[i] for i in now), minimal=True)


def _tries(now: tuple[int, ...], parts: int) -> list[tuple[tuple[int, ...], int]]:
    """The parts of `now` and then their complements, each with the number of parts to go on with."""
    cuts = [len(now) * i // parts for i in range(parts + 1)]
    pieces = [now[a:b] for a, b in itertools.pairwise(cuts) if a < b]
    tries = [(piece, 2) for piece in pieces]
    if len(pieces) > 2:  # of two, each is the other's complement
        tries += [(now[:a] + now[b:], parts - 1) for a, b in itertools.pairwise(cuts) if a < b]
    return tries
