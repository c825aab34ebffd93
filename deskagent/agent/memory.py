"""What a run writes down so that a later one can go on, and what it takes from the earlier ones."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from deskagent.agent import resume
from deskagent.agent.past import Past
from deskagent.agent.recorder import Recorder
from deskagent.agent.tree import Keeper
from deskagent.repair.budget import Budget, Limits
from deskagent.session import events

_TIDYING, _TIDYING_SHARE = 1.0, 0.06  # seconds of the limit, at most so much of it


class Memory:
    """A run's view of its session: `past` is what the session did before, None where this is its first run."""

    def __init__(self, recorder: Recorder, project: Path, past: Past | None) -> None:
        self._recorder, self._project, self._past = recorder, project, past
        self._keeper: Keeper | None = None

    def whole_budget(self, limits: Limits, began: float) -> Budget:
        """A budget from the monotonic time `began` on, of which earlier runs have taken their part; a patch that they
        found in time can be proved."""
        past, used = self._past, time.monotonic() - began
        # What the run started is ended and deleted within the limit too.
        limits = replace(limits, seconds=limits.seconds - min(_TIDYING, _TIDYING_SHARE * limits.seconds))
        if past is None:
            return self._budget(limits, used, None)
        needed = 15.0 + 6 * past.before.tests.seconds if past.before and past.green else 0.0
        return self._budget(limits, used + max(0.0, min(past.seconds, limits.seconds - needed)), None)

    def search_budget(self, whole: Budget) -> Budget:
        """The search's part of `whole`, which has no limits of its own but counts from the first run on."""
        return self._budget(Limits(), self._past.searching if self._past else 0.0, whole)

    def keep_tree(self) -> None:
        """Begins to read the project, beside whatever comes next."""
        self._keeper = Keeper(self._project, self._recorder.journal.blobs)

    def tree_kept(self) -> events.TreeRecorded | str:
        """Notes in the journal which tree this run is about: the event, or the reason why there is none."""
        assert self._keeper is not None
        kept = self._keeper.result()
        if isinstance(kept, str):
            self._recorder.notice("info", f"The project is not kept in the session, {kept}: no replay later.")
        else:
            self._recorder.emit(kept)
        return kept

    def recall(self, line: str) -> resume.Reuse:
        """What of earlier runs holds for the tree of this one and the test command `line`; a notice says so."""
        kept = self.tree_kept()
        if self._past is None:
            return resume.Reuse()
        found = resume.reuse(self._past, kept, line, self._recorder.journal.blobs)
        if found.notice:
            self._recorder.notice("info", found.notice)
        return found

    def applied(self) -> resume.Applied | None:
        """The patch that an earlier run of the session put into the project, if it is still there."""
        return resume.applied(self._past, self._project, self._recorder.journal.blobs) if self._past else None

    def _budget(self, limits: Limits, seconds: float, whole: Budget | None) -> Budget:
        spent = self._past.spent if self._past else 0
        return Budget(limits, whole, started=time.monotonic() - seconds, spent=spent)
