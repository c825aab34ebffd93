"""Which limits hold: the tier's, or those that a person told."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from deskagent.agent.memory import Memory
from deskagent.agent.request import FixRequest
from deskagent.agent.spending import Spending
from deskagent.repair.budget import Limits


def _spending(**told: object) -> Spending:
    request = FixRequest("x", Path("/p"), Path("/p"), {}, **told)  # type: ignore[arg-type]
    memory = Memory.__new__(Memory)  # no journal: nothing of an earlier run
    memory._past = None
    return Spending(request, memory, time.monotonic())


def _tier(**told: object) -> Limits:
    spending = _spending(**told)
    spending.open_search()
    return spending.open_tier().limits


@pytest.mark.parametrize(("seconds", "hurried"), [(1.0, True), (3.0, True), (60.0, False), (None, False)])
def test_who_gives_seconds_is_in_a_hurry(seconds: float | None, hurried: bool) -> None:
    assert _spending(max_seconds=seconds).hurried is hurried


@pytest.mark.parametrize(
    ("told", "candidates", "timed"),
    [
        ({}, 50, True),  # the first of three tiers
        ({"effort": "max"}, 1000, True),
        ({"effort": "max", "max_candidates": 7}, math.inf, True),  # the whole run's limit holds instead
        ({"effort": "max", "max_seconds": 120.0}, math.inf, False),
        ({"effort": "auto", "max_seconds": 120.0}, 50, True),  # there are tiers to climb yet
    ],
)
def test_limits_of_the_first_tier(told: dict[str, object], candidates: float, timed: bool) -> None:
    limits = _tier(**told)
    assert limits.candidates == candidates
    assert math.isfinite(limits.seconds) is timed
