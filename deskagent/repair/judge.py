"""What results mean for a candidate: which tests must pass, which belong to an edit, how long each may take."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deskagent.repair.protocol import Report
from deskagent.repair.types import Baseline, Coverage, Outcome, Status, TestResult

_PARAMETERS = re.compile(r"\[.*\]$", re.DOTALL)


@dataclass(frozen=True)
class Judged:
    """A stage's outcome; `status` GREEN means that the stage found nothing wrong."""

    status: Status
    results: tuple[TestResult, ...]
    detail: str = ""


def judge(
    report: Report, failing: Iterable[str], passing: Iterable[str], flaky: frozenset[str] = frozenset()
) -> Judged:
    """Whether a run is as it should be: every id of `failing` passes now, every id of `passing` still does.

    An id may name a file, class or module that could not be had before: something below it must pass. A test
    with parameters whose values went into its name may come under another name. What is in `flaky` isn't counted.
    """
    results = tuple(report.results.values())
    if report.why == "timeout":
        return Judged(Status.TIMEOUT, (*results, _unfinished(report)), "Ran out of time.")
    bad = [r for r in results if r.outcome.bad and r.id not in flaky]
    if bad:
        return Judged(Status.BROKEN if bad[0].id in report.broken else Status.RED, results, bad[0].id)
    if not report.ended:
        return Judged(Status.CRASHED, (*results, _unfinished(report)), _death(report))
    if not results:
        return Judged(Status.BROKEN, (), report.output[-2000:] or "No test was found.")
    passed = {r.id for r in results if r.outcome is Outcome.PASSED}
    missing = _missing([name for name in (*failing, *passing) if name not in flaky], passed)
    if missing:
        return Judged(Status.RED, results, f"{missing[0]} did not pass any more.")
    return Judged(Status.GREEN, results)


def _missing(wanted: list[str], passed: set[str]) -> list[str]:
    """Ids of `wanted` for which nothing in `passed` stands."""
    lost = [name for name in wanted if name not in passed and not _below(name, passed)]
    if not lost:
        return []
    strangers = Counter(_PARAMETERS.sub("", name) for name in passed)
    strangers.subtract(_PARAMETERS.sub("", name) for name in passed.intersection(wanted))
    missing = []
    for name in lost:
        base = _PARAMETERS.sub("", name)
        if base == name or strangers[base] <= 0:
            missing.append(name)
        strangers[base] -= 1
    return missing


def _below(name: str, passed: set[str]) -> bool:
    return (not name and bool(passed)) or any(
        p.startswith((f"{name}::", f"{name}.", f"{name}/")) for p in passed
    )


def _unfinished(report: Report) -> TestResult:
    outcome = Outcome.TIMEOUT if report.why == "timeout" else Outcome.ERROR
    return TestResult(report.current, outcome, message=_death(report))


def _death(report: Report) -> str:
    if report.why == "timeout":
        return "Ran out of time."
    how = f"killed by signal {-report.code}" if report.code < 0 else f"ended with exit status {report.code}"
    return (
        f"The interpreter was {how}."
        if report.code < 0
        else f"The interpreter {how}.\n{report.output[-2000:]}"
    )


def affected(
    coverage: Coverage, before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> frozenset[str] | None:
    """Ids of the tests that ran the edited functions. None where that can't be told (a module's top level)."""
    found: set[str] = set()
    for path, new in after.items():
        lines = _touched(before.get(path, b""), new)
        if lines is None:
            return None
        found.update(
            test for test, files in coverage.items() if test and not lines.isdisjoint(files.get(path, ()))
        )
    return frozenset(found)


def _touched(old: bytes, new: bytes) -> frozenset[int] | None:
    """Lines of `old` that belong to the functions in which the two differ."""
    if old == new:
        return frozenset()
    one, two = old.splitlines(), new.splitlines()
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
    most = min(len(one), len(two)) - same
    pairs = zip(reversed(one), reversed(two), strict=False)
    same_end = sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], itertools.islice(pairs, most)))
    first, last = same + 1, max(same + 1, len(one) - same_end)
    try:
        tree = ast.parse(old)
    except (SyntaxError, ValueError, RecursionError):
        return None
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    # the body alone tells that a function ran: its `def` line runs at import
    around = [span for span in spans if span[0] < first and last <= span[1]]
    if not around:
        return None
    start, end = max(around)
    return frozenset(range(start + 1, end + 1))


@dataclass(frozen=True)
class Patience:
    """How long candidates may take, from what the unedited tree took. Seconds of processor time.

    A test gets `factor` times its own time, at least `floor`. Of a test that failed it isn't known how long it
    will take once it passes: it gets what the slower of the passing ones got.
    """

    floor: float = 0.5
    factor: float = 10.0
    most: float = 60.0
    gather_floor: float = 2.0

    def limits(self, baseline: Baseline) -> tuple[float, dict[str, float]]:
        """(limit of a test that isn't named, {id: limit})."""
        times = sorted(r.seconds for r in baseline.passing)
        usual = times[min(len(times) - 1, len(times) * 95 // 100)] if times else self.floor / 2
        limit = self._limit(usual)
        own = {r.id: self._limit(r.seconds) for r in baseline.results if r.outcome is not Outcome.TIMEOUT}
        return limit, {name: seconds for name, seconds in own.items() if seconds > limit}

    def _limit(self, seconds: float) -> float:
        return max(self.floor, min(self.factor * seconds, self.most + seconds))

    def gather(self, seconds: float) -> float:
        """For imports and collection that took `seconds`."""
        return max(self.gather_floor, 5 * seconds)

    def whole(self, baseline: Baseline, ids: Sequence[str] | None) -> float:
        """Wall seconds for a run of `ids`: a last resort, since each test has a limit of its own."""
        wanted = None if ids is None else set(ids)
        known = sum(r.seconds for r in baseline.results if wanted is None or r.id in wanted)
        return 60.0 + 20 * known
