"""What a repair may spend: the whole run, its search tier by tier, the first look at the tests, the proofs."""

from __future__ import annotations

import math

from deskagent.agent.budget import SEARCH_LIMITS, Tier, climb
from deskagent.agent.memory import Memory
from deskagent.agent.request import FixRequest
from deskagent.repair.budget import Budget, Limits

_LOOK_SHARE, _LOOK_LONGEST = 0.5, 300.0
"""So much of the time that is left may the first look at the tests take, and so many seconds at most."""

_HURRIED, _HURRIED_SHARE = 8.0, 0.9
"""Limits of so many seconds leave no time to wait for the exact command before the tests are looked at; then such a
share of what is left is for that."""

_PROOF_SECONDS, _PROOF_RUNS = 10.0, 2.0
"""A patch that was found in time gets its proof beyond the limit: so many seconds and so many times the first run."""


class Spending:
    """`whole` counts from the monotonic time `began` on; `search` is the part of it that the search has, `tier_budget`
    the part that the tier in hand has: the whole until they are opened."""

    def __init__(self, request: FixRequest, memory: Memory, began: float) -> None:
        self._request, self._memory = request, memory
        self._tiers = list(climb(request.effort))
        self.whole = memory.whole_budget(request.limits, began)
        self.search: Budget = self.whole
        self.tier_budget: Budget = self.whole

    @property
    def tier(self) -> Tier:
        """The tier that the search is at."""
        return self._tiers[0]

    @property
    def climbs(self) -> bool:
        """Whether there is a tier above the one in hand."""
        return len(self._tiers) > 1

    def open_search(self) -> None:
        """The search begins."""
        self.search = self._memory.search_budget(self.whole)

    def open_tier(self) -> Budget:
        """The budget of the tier in hand, from here on."""
        self.tier_budget = self.search.part(self._limits())
        return self.tier_budget

    def may_go_on(self) -> bool:
        """Whether anything is left for the search; where the tier's part is spent, it climbs to the next."""
        if self.tier_budget.exhausted:
            if self.whole.exhausted or len(self._tiers) == 1:
                return False
            self._tiers.pop(0)
        return True

    @property
    def hurried(self) -> bool:
        """Whether what usually comes one after the other is done at once, though each may slow the other down."""
        return self.whole.limits.seconds <= _HURRIED

    def look_seconds(self, run: float | None) -> float:
        """What the first look at the tests may take; the exact command took `run` seconds, if that is known. A part
        is kept for trying edits, unless the tests alone need more."""
        left = self.whole.seconds_left
        share = _HURRIED_SHARE if self.hurried else _LOOK_SHARE
        wanted = max(share * left, 1.5 * run if run is not None else 0.0)
        return min(_LOOK_LONGEST, left, wanted)

    def proof_seconds(self, run: float) -> float:
        """What is left for proving patches, where the first run took `run`: all proofs together have so much beyond
        the limit."""
        beyond = _PROOF_SECONDS + _PROOF_RUNS * run
        return max(0.1, self.whole.limits.seconds + beyond - self.whole.elapsed)

    def _limits(self) -> Limits:
        """What is left for the tier in hand. Limits that the person told hold instead of the last tier's own; one of
        seconds also instead of its number of candidates: who gives two minutes wants them used."""
        usual, told = SEARCH_LIMITS[self.tier], self._request
        last = len(self._tiers) == 1
        counted = not last or (told.max_candidates is None and told.max_seconds is None)
        candidates = usual.candidates if counted else math.inf
        seconds = math.inf if last and told.max_seconds is not None else usual.seconds
        return Limits(max(0.0, candidates - self.search.spent), max(0.0, seconds - self.search.elapsed))
