"""Writes what happens into the session's journal, shows it to the front, and adds up what each step cost."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from deskagent.agent.budget import StepType, Tier
from deskagent.agent.front import Front, Passing
from deskagent.agent.keeping import EVERY, keep
from deskagent.agent.loop import State
from deskagent.session import events
from deskagent.session.journal import Journal

_BATCH = 25
_BATCH_SECONDS = 2.0


@dataclass
class Step:
    """A running step; the holder fills in what it used."""

    id: str
    type: StepType
    tier: Tier
    candidates: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    cost_usd: float = 0.0
    note: str = ""
    seconds: float = 0.0

    def as_dict(self) -> dict[str, object]:
        return {
            "step": str(self.type),
            "tier": str(self.tier),
            "seconds": round(self.seconds, 3),
            "candidates": self.candidates,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "note": self.note,
        }


class Recorder:
    """The one way from the workflow to the journal and the front. Any number of threads may use it."""

    def __init__(self, journal: Journal, front: Front) -> None:
        self.journal = journal
        self.front = front
        self.steps: list[Step] = []
        self.notices: list[events.Notice] = []
        # A session that goes on has more events than ids.
        self._ids = itertools.count(max(1, journal.seq))
        self._trials: list[events.Trial] = []
        self._flushed = time.monotonic()
        self._batching = threading.Lock()
        self._keep_at = journal.seq + EVERY
        self.changing = threading.Lock()
        """Held while files change: one change comes after the other, whoever makes them."""

    def new_id(self, kind: str) -> str:
        """An id that no other of this session has."""
        return f"{kind}-{next(self._ids)}"

    def emit(self, event: events.Event) -> None:
        """Into the journal first (synced where the event's type says so), then to the front."""
        self.flush()
        self._keep(event)

    def pass_on(self, event: Passing) -> None:
        """To the front alone."""
        self.front.show(event)

    def notice(self, level: str, text: str) -> None:
        event = events.Notice(level=level, text=text)
        self.notices.append(event)
        self.emit(event)

    def trial(self, trial: events.Trial) -> None:
        """A candidate's outcome: kept in batches, since trying again is cheaper than a sync each."""
        with self._batching:
            self._trials.append(trial)
        if len(self._trials) >= _BATCH or time.monotonic() - self._flushed > _BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        with self._batching:
            trials = tuple(self._trials)
            self._trials.clear()
        if trials:
            self._keep(events.CandidatesTried(trials=trials))
        self._flushed = time.monotonic()

    def _keep(self, event: events.Event) -> None:
        self.journal.append(event)
        self.front.show(event)
        with self._batching:
            if self.journal.seq >= self._keep_at:
                self._keep_at = self.journal.seq + EVERY
                keep(self.journal, EVERY // 2)

    @contextlib.contextmanager
    def step(self, kind: StepType, tier: Tier, state: State) -> Iterator[Step]:
        """A step of the loop: its start and its cost are events, also when it fails."""
        step = Step(self.new_id("step"), kind, tier)
        self.steps.append(step)
        self.emit(events.StepStarted(id=step.id, step=str(kind), tier=str(tier), state=str(state)))
        started = time.monotonic()
        try:
            yield step
        finally:
            step.seconds = time.monotonic() - started
            self.emit(
                events.StepEnded(
                    id=step.id,
                    seconds=step.seconds,
                    tokens=step.tokens,
                    candidates=step.candidates,
                    cost_usd=step.cost_usd,
                    note=step.note,
                )
            )
