"""The first look by two workers at once: without a tracer for the results, with one for what ran."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future

from deskagent.repair.look import Look, look
from deskagent.repair.slot import Slot
from deskagent.repair.types import Outcome

SECONDS = 3.0
"""Of processor time that a test may take, where nothing is known of it."""
GLANCE = 0.5
"""Seconds of a test that may hang in which a tracer sees enough."""

Put = Callable[[Callable[[Slot], Look]], Future[Look]]
"""Has the next free slot do some work."""


class Looks:
    """Looks that `put` has slots take, perhaps before they are asked for."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._begun: Future[Look] | None = None

    def begin(self, until: float) -> None:
        """Looks from now on, until the monotonic time `until`, knowing nothing of the tests: once, without a
        tracer, since that takes half as long and a second worker would slow the first down. Nothing is covered then."""
        self._begun = self._put(lambda slot: look(slot, trace=False, test_seconds=SECONDS, until=until))

    @property
    def begun(self) -> bool:
        """Whether a look has begun that nobody has asked for yet."""
        return self._begun is not None

    def both(self, test_seconds: float, glance: float, until: float) -> tuple[Look, Look]:
        """The look without and the one with a tracer, each test at most `test_seconds` and `glance`. What was begun is
        taken once, unless it saw nothing or cut off tests that may take longer."""
        begun, self._begun = self._begun, None
        if begun is not None:
            found = begun.result()
            cut = any(result.outcome is Outcome.TIMEOUT for result in found.results.values())
            if found.results and not (cut and test_seconds > SECONDS):
                return found, found
        one, other = self._both(test_seconds, glance, until)
        return one.result(), other.result()

    def add_coverage(self, plain: Look, traced: Look, glance: float, until: float) -> None:
        """The failing tests' coverage matters most: where it is lacking they get a run of their own."""
        lacking = tuple(n for n, r in plain.results.items() if r.outcome.bad and n not in traced.coverage)
        if not lacking or len(traced.results) >= len(plain.results) or time.monotonic() >= until:
            return
        again = self._put(
            lambda slot: look(slot, trace=True, test_seconds=glance, until=until, ids=lacking)
        ).result()
        for name in lacking:
            if name in again.coverage:
                traced.coverage[name] = again.coverage[name]

    def _both(self, test_seconds: float, glance: float, until: float) -> tuple[Future[Look], Future[Look]]:
        return (
            self._put(lambda slot: look(slot, trace=False, test_seconds=test_seconds, until=until)),
            self._put(lambda slot: look(slot, trace=True, test_seconds=glance, until=until)),
        )
