"""Fuzzy matching: the letters of what is typed, in order, anywhere in a name; better where they stand together."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

_STARTS = "/._- "


def score(typed: str, name: str) -> float | None:
    """The higher the better; None where the letters aren't in the name in this order. Case counts only if typed."""
    if not typed:
        return 0.0
    where = name if typed != typed.lower() else name.lower()
    whole = where.rfind(typed)
    if whole >= 0:
        found = 2.0 * len(typed) + (3.0 if whole == 0 or where[whole - 1] in _STARTS else 0.0)
    else:
        found, at = 0.0, -1
        for letter in typed:
            following = where.find(letter, at + 1)
            if following < 0:
                return None
            starts = following == 0 or where[following - 1] in _STARTS
            found += 1.5 if following == at + 1 else 1.0 if starts else 0.3
            at = following
    return found - len(name) / 200


def best(typed: str, names: Iterable[str], most: int) -> list[str]:
    """The names that match best, the best first; equal ones in their order."""
    rated = ((rate, -at, name) for at, name in enumerate(names) if (rate := score(typed, name)) is not None)
    return [name for _, _, name in heapq.nlargest(most, rated)]
