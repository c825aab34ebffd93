"""A plain budget: seconds and candidates, counted down by whoever is handed it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """What a search may use: candidates tried and seconds of wall time. Infinite where not told."""

    candidates: float = math.inf
    seconds: float = math.inf


@dataclass
class Budget:
    """Counts what is spent against `limits` from its creation on. What a part spends, the whole spends too."""

    limits: Limits
    whole: Budget | None = None
    started: float = field(default_factory=time.monotonic)
    spent: int = 0

    def part(self, limits: Limits) -> Budget:
        """A budget within this one: ends at its own limits or at those of the whole, whichever comes first."""
        return Budget(limits, self)

    @property
    def elapsed(self) -> float:
        """Seconds since this budget was opened."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        left = max(0.0, self.limits.seconds - self.elapsed)
        return min(left, self.whole.seconds_left) if self.whole else left

    @property
    def until(self) -> float:
        """The monotonic time at which the seconds are used up."""
        return time.monotonic() + self.seconds_left

    @property
    def candidates_left(self) -> float:
        left = max(0, self.limits.candidates - self.spent)
        return min(left, self.whole.candidates_left) if self.whole else left

    @property
    def exhausted(self) -> bool:
        return self.seconds_left <= 0 or self.candidates_left <= 0

    @property
    def share(self) -> float:
        """How much is used, 0 to 1: of what runs out first."""
        limits = self.limits
        used = max(
            self.spent / limits.candidates if limits.candidates else 1.0,
            self.elapsed / limits.seconds if limits.seconds else 1.0,
        )
        return min(1.0, max(used, self.whole.share) if self.whole else used)

    def spend(self, candidates: int = 1) -> None:
        self.spent += candidates
        if self.whole:
            self.whole.spend(candidates)
