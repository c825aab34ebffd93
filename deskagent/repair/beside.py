"""Failing tests beside those that a repair is about: which they are, and that nothing else keeps the command red."""

from __future__ import annotations

from collections.abc import Collection

from deskagent.repair.cold import ColdRun
from deskagent.repair.focus import asked_for
from deskagent.repair.types import Baseline
from deskagent.terminal.types import End

_TESTS_FAILED = 1
"""The exit code of pytest and unittest for "all ran, some failed"; others mean that some didn't run."""


def beside(request: str, baseline: Baseline, before: ColdRun) -> frozenset[str]:
    """Ids of the failing tests that `request` doesn't name, where it names some and `before`, a run of the exact
    command, tells all its failures: only then can be shown later that nothing else fails."""
    told = _all_told(before)
    asked = {test.id for test in asked_for(request, baseline).failing}
    if not told or not asked <= told:
        return frozenset()
    return (told | {test.id for test in baseline.failing}) - asked


def still(before: ColdRun, after: ColdRun, others: Collection[str]) -> tuple[str, ...]:
    """Ids that keep the command red in the run `after`, where these are some of `others` that failed in `before` too,
    and every other test that failed then passes. Empty where that isn't so, or can't be told from what was printed."""
    failed, failing = _all_told(before), _all_told(after)
    if not failing or not failing <= failed.intersection(others):
        return ()
    more = (after.printed.passed or 0) - (before.printed.passed or 0)
    return tuple(sorted(failing)) if more >= len(failed) - len(failing) else ()


def _all_told(run: ColdRun) -> frozenset[str]:
    """The tests that failed in a run to its end, where it names each of them; else none."""
    result, printed = run.result, run.printed
    told = frozenset(test.id for test in printed.failing)
    ended = result.end is End.EXITED and result.code == _TESTS_FAILED
    whole = result.total <= len(result.head) + len(result.tail)
    return told if ended and whole and "" not in told and printed.failed == len(told) else frozenset()
