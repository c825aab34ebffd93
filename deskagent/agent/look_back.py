"""What repeated runs and the history say of a failure: flaky tests, a better order of suspects, reverts to try."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deskagent.agent.apply import Changes
from deskagent.agent.budget import SEARCH_LIMITS, climb
from deskagent.agent.cold import ColdProof
from deskagent.agent.recorder import Recorder
from deskagent.agent.request import FixRequest
from deskagent.agent.spending import Spending
from deskagent.repair.budget import Budget, Limits
from deskagent.repair.diff import readable
from deskagent.repair.regress.find import Found, Regression, find
from deskagent.repair.regress.reverts import reverts
from deskagent.repair.regress.suspects import changed_lately, first_suspects
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Candidate, Suspect
from deskagent.repair.verify import Verifier

_SHARE = 1 / 3
"""So much of the time may go into looking back."""


@dataclass(frozen=True)
class LookBack:
    """What came of it: `reverts` are candidates to try before all others. `diff` takes back what makes a part of the
    failing tests fail, where the others have another cause."""

    suspects: tuple[Suspect, ...]
    reverts: tuple[Candidate, ...] = ()
    found: Found | None = None
    diff: str = ""

    @property
    def note(self) -> str:
        if self.found is None:
            return ""
        return f", {self.found.runs} runs at other commits in {self.found.seconds:.1f} s"

    def as_dict(self) -> dict[str, Any] | None:
        """The regression as the result has it, None where there is none."""
        if self.found is None or self.found.regression is None:
            return None
        return _as_dict(self.found.regression) | {"diff": self.diff}


def first_look(verifier: Verifier, before: ColdProof, spending: Spending) -> Baseline:
    """What the tests do without any edit; `before` is the exact command's run."""
    cold = None if before.stalled else before.run  # one that was cut off proves nothing
    return verifier.baseline(cold=cold, seconds=spending.look_seconds(cold.result.seconds if cold else None))


def look_back(
    request: FixRequest,
    suspects: tuple[Suspect, ...],
    *,
    baseline: Baseline,
    verifier: Verifier,
    read: Callable[[str], SourceFile],
    recorder: Recorder,
    whole: Budget,
) -> LookBack:
    """Looks back as far as `request` asks for; without being asked, lines changed lately count for a little more."""
    if request.since is None:
        return LookBack(changed_lately(request.project, suspects))
    seconds = min(whole.seconds_left, SEARCH_LIMITS[climb(request.effort)[-1]].seconds)
    found = find(
        request.project,
        request.since,
        baseline=baseline,
        probe=verifier.probe,
        budget=whole.part(Limits(seconds=_SHARE * seconds)),
    )
    for text in found.notices:
        recorder.notice("info", text)
    if found.regression is None:
        return LookBack(changed_lately(request.project, suspects), found=found)
    first = first_suspects(suspects, found.regression)
    back = tuple(reverts(found.regression, read, files=request.files))
    partial = readable(_changes(back[0], read)) if found.regression.apart and back else ""
    return LookBack(first, back, found, partial)


def say_flaky(verifier: Verifier, recorder: Recorder) -> None:
    """Says what is known of tests whose result changes by itself, each thing once."""
    said = {notice.text for notice in recorder.notices}
    for text in verifier.steady.notices():
        if text not in said:
            recorder.notice("warning", text)


def _changes(candidate: Candidate, read: Callable[[str], SourceFile]) -> Changes:
    paths = {edit.path for edit in candidate.edits}
    return {p: (read(p).raw, read(p).apply([e for e in candidate.edits if e.path == p])) for p in paths}


def _as_dict(regression: Regression) -> dict[str, Any]:
    culprit = regression.culprit
    return {
        "last_green": {"commit": regression.green.id, "subject": regression.green.subject},
        "culprit": {"commit": culprit.id, "subject": culprit.subject} if culprit else None,
        "uncommitted": regression.uncommitted,
        "untold_commits": [commit.id for commit in regression.between],
        "changes": len(regression.changes.pieces),
        "enough_to_take_back": [
            {"path": piece.path, "line": piece.hunk.first if piece.hunk else None}
            for piece in regression.lines
        ],
        "minimal": regression.minimal,
        "tests": list(regression.tests),
        "other_cause": list(regression.apart),
    }
