"""How a model at a repair is put on record: all that it says and does stands in the session as a subagent's."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator

from deskagent.agent.budget import StepType, Tier
from deskagent.agent.converse.subagents import Inner
from deskagent.agent.loop import State
from deskagent.agent.recorder import Recorder, Step
from deskagent.session.history import History


class Seat(Inner):
    """own: its steps. The steps of all models together are `steps`, so that their cost counts on one limit; what the
    workflow's steps cost is counted without them."""

    def __init__(self, outer: Recorder, agent: str, history: History, together: list[Step]) -> None:
        super().__init__(outer, agent, history)
        self.steps = together
        self.own: list[Step] = []
        self._numbers = itertools.count(1)

    @contextlib.contextmanager
    def step(self, kind: StepType, tier: Tier, state: State) -> Iterator[Step]:
        """Kept for the sum alone: the session has the requests, with their tiers and tokens."""
        step = Step(f"{next(self._numbers)}", kind, tier)
        self.steps.append(step)
        self.own.append(step)
        began = time.monotonic()
        try:
            yield step
        finally:
            step.seconds = time.monotonic() - began
