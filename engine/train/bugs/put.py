"""Puts bugs into a part."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from engine.train.bugs.change import Change, Mutator, apart, applied
from engine.train.bugs.kinds import ADDED, LINES, OF_FEW, REPLACED, SELDOM
from engine.train.bugs.source import Unit, parse

_TRIES = 12
_FEW = {kind: (1.0, {**LINES, **REPLACED}[kind][1]) for kind in OF_FEW}
_IDLE = re.compile(r"^\s*([\w.]+) = \1$|\b([\w.]+) (?:[<>]=?|==|!=) \2\b(?![.(\[])", re.MULTILINE)
"""Nobody sets or compares a thing to itself."""


@dataclass(frozen=True, slots=True)
class Put:
    """text: with the bugs, which parses. kinds: of the bugs."""

    text: str
    kinds: tuple[str, ...]


def put(unit: Unit, rng: random.Random, number: int) -> Put | None:
    """Up to `number` bugs, each away from the others. None where there is no place for one."""
    taken: list[Change] = []
    kinds: list[str] = []
    for _ in range(number):
        groups = [LINES, REPLACED] if rng.random() < ADDED else [REPLACED, LINES]
        if rng.random() < SELDOM:
            groups.insert(0, _FEW)
        found = next((one for group in groups if (one := _one(unit, rng, group, taken))), None)
        if found is None:
            break
        kinds.append(found[0])
        taken += found[1]
    text = applied(unit.text, taken)
    if text == unit.text or not text.strip() or len(_IDLE.findall(text)) > len(_IDLE.findall(unit.text)):
        return None
    if parse(text) is None:
        return None
    return Put(text, tuple(kinds))


def _one(
    unit: Unit, rng: random.Random, group: dict[str, tuple[float, Mutator]], taken: list[Change]
) -> tuple[str, list[Change]] | None:
    left = {kind: weight for kind, (weight, _) in group.items()}
    for _ in range(_TRIES):
        if not left:
            return None
        kind = rng.choices(list(left), list(left.values()))[0]
        changes = group[kind][1](unit, rng)
        if changes and applied(unit.text, changes) != unit.text and apart(unit.text, changes, taken):
            return kind, list(changes)
        del left[kind]
    return None
