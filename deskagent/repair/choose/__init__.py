"""Choosing among patches that all pass: by the edit, the code it makes, the words around it, and what it does.

Tests alone don't decide which of several green patches is right, so every one of them is shown, with an input that
tells it from the best where one was found.
"""

from __future__ import annotations

from deskagent.repair.choose.differ import Behaviour, watch
from deskagent.repair.choose.ranking import rank
from deskagent.repair.choose.separate import separate
from deskagent.repair.choose.types import Choice, Context, Reason, Separation
from deskagent.repair.search import Trial

__all__ = [
    "MOST_SECONDS",
    "SHARE",
    "Behaviour",
    "Choice",
    "Context",
    "Reason",
    "Separation",
    "apart",
    "rank",
    "separate",
    "watch",
]

MOST_SECONDS = 3.0
SHARE = 0.15
"""What `watch` may take in a repair: so many seconds, and so much of the time used up to then."""


def apart(best: Trial, rival: Trial, behaviour: Behaviour | None = None) -> str:
    """In words, what tells `rival` from `best`: where and how it edits, and what that changes, if it was seen."""
    one, other = best.candidate, rival.candidate
    if other.path != one.path:
        where = f"in {other.path} line {other.line} instead of {one.path} line {one.line}"
    elif other.line != one.line:
        where = f"at line {other.line} instead of line {one.line}"
    else:
        where = f"at the same line {one.line}"
    text = f"{where}: {other.note} ({other.operator}) against {one.note} ({one.operator})"
    found = separate(best, rival, behaviour) if behaviour is not None else None
    return f"{text}; {found.text}" if found is not None else text
