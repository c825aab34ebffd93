"""What a model at a repair is told: its task, what is known, in which way to begin, and what became of its patch."""

from __future__ import annotations

from collections.abc import Sequence

from deskagent.agent.repairing.problem import Problem
from deskagent.repair.types import Verdict
from deskagent.tools.bench import Patch
from deskagent.tools.localise import told as looked
from deskagent.tools.verify import of_verdict

ROLE = """You repair a bug that failing tests show. You work in a copy of the project: change its files there, by \
your tools. What counts at the end is the difference between your copy and the project, without tests and without \
files that decide which tests run: these are put back before anything is judged. Delete no files; new ones are made by \
`write`. Nobody answers questions. Call `verify` after each change that could be the repair, and end when it passes, \
with a sentence on what was wrong. Repair the cause: code that only knows the tests' inputs is no repair."""

PLANS = (
    "Begin where the failure is raised, and follow the wrong value back to where it comes from.",
    "Begin with what the failing tests and the documentation ask for, and compare the code with that, line by line.",
    "Begin with the callers and the data that they hand over: the fault may lie before the place that fails.",
    "Begin with what differs between the failing tests and the like that pass.",
)
"""Ways to begin, for models that work side by side."""

NOTHING = "Nothing of the project's own code was changed in your copy so far, so nothing is repaired. Go on."
_SUSPECTS, _TRIED = 12, 12


def first(problem: Problem, plan: int | None) -> str:
    """plan: of PLANS, counted over their end; None for none."""
    parts = [
        problem.request.strip() or "The tests fail. Repair what makes them fail.",
        looked(problem.look, _SUSPECTS),
        _tried(problem),
    ]
    if problem.allowed.globs:
        parts.append(f"Only these files may be edited: {', '.join(problem.allowed.globs)}")
    if plan is not None:
        parts.append(PLANS[plan % len(PLANS)])
    return "\n\n".join(filter(None, parts))


def judged(patch: Patch, verdict: Verdict) -> str:
    """The tests' word on a patch that the model thought was done."""
    return "\n".join(
        [*patch.notes, "The tests don't accept your copy as it is now. Go on.", *of_verdict(verdict)]
    )


def refuted(summary: str) -> str:
    return (
        f"Your patch passes in a warm worker, but the exact command fails with it on a fresh copy: {summary}. "
        "`verify` with `cold` shows it. Go on."
    )


def _tried(problem: Problem) -> str:
    tried: Sequence[str] = [
        f"{trial.path}:{trial.line}  {trial.note}  ({trial.status} in {trial.stage or 'its first'} tests)"
        for trial in problem.tried[:_TRIED]
    ]
    if not tried:
        return ""
    count = len(problem.tried)
    return "\n".join(
        [f"Small edits that were tried in vain ({count}), those that came furthest first:", *tried]
    )
