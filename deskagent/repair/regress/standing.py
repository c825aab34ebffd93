"""How the failing tests stand on another tree, told from a run of them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace

from deskagent.repair.budget import Budget
from deskagent.repair.hints import read_hints
from deskagent.repair.regress.bisect import Standing
from deskagent.repair.types import Baseline, Outcome, Status, TestResult, Verdict

Probe = Callable[[Mapping[str, bytes | None], tuple[str, ...]], "Future[Verdict]"]
"""Runs the failing tests, of them only those named where any are, on the work tree with some files set otherwise
(None: gone)."""


class OutOfTime(Exception):
    """The time for looking into the past is over."""


@dataclass
class Count:
    """`runs` of the failing tests so far; `unsteady`: one of them passed and failed with the same files."""

    runs: int = 0
    unsteady: bool = False


@dataclass(frozen=True)
class Court:
    """Runs the failing tests of `baseline` on other trees, within `budget`; only `names` of them where any are."""

    probe: Probe
    baseline: Baseline
    budget: Budget
    count: Count
    names: tuple[str, ...] = ()

    def only(self, names: tuple[str, ...]) -> Court:
        """The same for some of the failing tests."""
        results = tuple(r for r in self.baseline.results if r.id in names)
        return replace(self, names=names, baseline=replace(self.baseline, results=results))

    def within(self, budget: Budget) -> Court:
        """The same with another budget."""
        return replace(self, budget=budget)

    def standing(self, files: Mapping[str, bytes | None]) -> Standing:
        """How the tests stand with `files`. What passes once has to pass again. OutOfTime."""
        verdict = self._run(files)
        if verdict.status is Status.GREEN:
            if self._run(files).status is Status.GREEN:
                return Standing.GREEN
            self.count.unsteady = True
            return Standing.SKIP
        return Standing.RED if self._same(verdict) else Standing.SKIP

    def passes(self, files: Mapping[str, bytes | None]) -> bool:
        """Whether the tests pass with `files`. OutOfTime."""
        return self._run(files).status is Status.GREEN

    def _run(self, files: Mapping[str, bytes | None]) -> Verdict:
        future = self.probe(files, self.names)
        done, _ = wait((future,), timeout=min(self.budget.seconds_left, 3600.0))
        if not done:
            future.cancel()
            raise OutOfTime
        self.count.runs += 1
        return future.result()

    def _same(self, verdict: Verdict) -> bool:
        """Whether it is today's failure: the same tests, by the same kind of exception."""
        before = {result.id: result for result in self.baseline.failing}
        bad = [result for result in verdict.results if result.outcome.bad]
        if verdict.status in (Status.TIMEOUT, Status.CRASHED) and not bad:
            return False
        if verdict.status is Status.BROKEN:
            # What can't be imported fails in a way of its own, unless that is today's way too.
            return any(r.id in before and _last(r) == _last(before[r.id]) for r in bad)
        if verdict.status is Status.TIMEOUT:
            return any(r.id in before and before[r.id].outcome is Outcome.TIMEOUT for r in bad)
        known = [result for result in bad if result.id in before or "" in before]
        return bool(known) and _kinds(known) <= _kinds(list(before.values()))


def _kinds(results: list[TestResult]) -> frozenset[str]:
    return read_hints("", Baseline(tuple(results), {}, 0.0)).exceptions


def _last(result: TestResult) -> str:
    lines = [line for line in result.message.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
