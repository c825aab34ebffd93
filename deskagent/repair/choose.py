"""Choosing among patches that all pass: the likelier kind of edit, then the smaller one, then the earlier.

Tests alone don't decide which of several green patches is right, so every one of them is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from deskagent.repair.search import Trial

_CHARACTERS_FOR_HALF = 40
"""An edit that touches as many more characters counts half."""


def size(trial: Trial) -> int:
    """Characters taken out and put in."""
    return sum(edit.end - edit.start + len(edit.new) for edit in trial.candidate.edits)


def weight(trial: Trial) -> float:
    """How much speaks for a green patch, as a log weight: its prior against its size."""
    return math.log(max(trial.candidate.prior, 1e-9)) - math.log(2) * size(trial) / _CHARACTERS_FOR_HALF


def in_order(green: Sequence[Trial]) -> list[Trial]:
    """The green patches, the best first."""
    return sorted(green, key=lambda trial: (-weight(trial), trial.number))


def apart(best: Trial, rival: Trial) -> str:
    """In words, what tells `rival` from `best`."""
    one, other = best.candidate, rival.candidate
    if other.path != one.path:
        where = f"in {other.path} line {other.line} instead of {one.path} line {one.line}"
    elif other.line != one.line:
        where = f"at line {other.line} instead of line {one.line}"
    else:
        where = f"at the same line {one.line}"
    return f"{where}: {other.note} ({other.operator}) against {one.note} ({one.operator})"
