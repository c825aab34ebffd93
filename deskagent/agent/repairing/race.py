"""Models beside a search: when they begin, what they may use together, how long the others are heard out."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deskagent.agent.converse.rules import Rules
from deskagent.agent.converse.talk import Limits, Meter
from deskagent.agent.recorder import Recorder, Step
from deskagent.agent.repairing import words
from deskagent.agent.repairing.entrant import OVER, Entrant
from deskagent.agent.repairing.problem import Problem
from deskagent.agent.repairing.table import Table
from deskagent.agent.spending import Spending
from deskagent.repair.budget import Limits as Seconds
from deskagent.repair.search import Ended, Search, Trial

if TYPE_CHECKING:
    from deskagent.agent.fix import Fix

LONGEST = 900.0
"""Seconds that models have after they began, where the person sets no limit of seconds."""
_HEARD, _HEARD_SHARE = (20.0, 300.0), 1.0
"""In a race the others are heard out after the first patch that passes: as long as was needed for it, within these
seconds."""


class Race:
    """together: the models begin at once, and after the first patch that passes the others are heard out. Else the one
    model begins where the search's first tier found nothing. limits: of turns and dollars, for all of them."""

    def __init__(
        self,
        entrants: Sequence[Entrant],
        *,
        together: bool,
        limits: Limits,
        rules: Rules,
        effort: str,
    ) -> None:
        self.entrants = entrants
        self.table = Table()
        self._together, self._limits, self._rules, self._effort = together, limits, rules, effort
        self._began: float | None = None
        self._searched = False
        self._said: set[str] = set()

    @property
    def goes_on(self) -> bool:
        """Whether a patch may still come of it."""
        return self._began is None or (self.table.working and self._seconds_left > 0)

    @property
    def to_come(self) -> bool:
        """Whether it hasn't begun."""
        return self._began is None

    def run(
        self,
        fix: Fix,
        search: Search,
        spending: Spending,
        *,
        alone: bool,
    ) -> Ended:
        """One stretch of the search with the models beside it. alone: the search's own budget is spent."""
        if self._began is None and (self._together or self._searched or alone or not spending.climbs):
            self._begin(fix.recorder, Problem.of(fix))
        self._searched = True
        if alone:
            seconds = math.inf if spending.whole.limits.seconds < math.inf else self._seconds_left
            budget = spending.search.part(Seconds(seconds=seconds))
        else:
            budget = spending.open_tier()
        ended = search.run(budget, spending.search, aside_alone=alone)
        if ended is Ended.GREEN and self._together:
            least, most = _HEARD
            longer = min(most, max(least, _HEARD_SHARE * (time.monotonic() - (self._began or 0.0))))
            search.hear_out(spending.search.part(Seconds(seconds=longer)))
        for entrant in self.entrants:
            if entrant.stopped is not None:
                raise entrant.stopped
        self._tell(fix.recorder)
        return ended

    def refuted(self, trial: Trial, summary: str) -> None:
        """The exact command fails with a patch that passed; the model that made it goes on."""
        for entrant in self.entrants:
            if trial.candidate.key in entrant.laid:
                entrant.refuted(words.refuted(summary))

    def close(self, recorder: Recorder) -> None:
        """Ends all of them, and waits for that."""
        for entrant in self.entrants:
            entrant.cancel()
        self.table.close()
        for entrant in self.entrants:
            entrant.join()
        self._tell(recorder)

    def as_list(self, green: Sequence[Trial], chosen: Trial | None) -> list[dict[str, Any]]:
        """What each of them did, for the result."""
        passing = {trial.candidate.key for trial in green}
        return [one.as_dict(passing, chosen.candidate.key if chosen else "") for one in self.entrants]

    @property
    def _seconds_left(self) -> float:
        return LONGEST if self._began is None else max(0.0, LONGEST - (time.monotonic() - self._began))

    def _begin(self, recorder: Recorder, problem: Problem) -> None:
        self._began = time.monotonic()
        meter, together = Meter(), list[Step]()
        for entrant in self.entrants:
            entrant.begin(
                recorder,
                problem,
                self.table,
                effort=self._effort,
                rules=self._rules,
                limits=self._limits,
                meter=meter,
                together=together,
            )

    def _tell(self, recorder: Recorder) -> None:
        """What ended models without a patch, once each."""
        for entrant in self.entrants:
            if entrant.why and entrant.why != OVER and entrant.name not in self._said:
                self._said.add(entrant.name)
                recorder.notice("warning", f"The model {entrant.name} ended without a patch: {entrant.why}")
