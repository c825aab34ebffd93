"""The first look at the unedited tree: every test's result and coverage, hanging and crashing ones included."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from deskagent.repair.protocol import Job, Report
from deskagent.repair.slot import Slot
from deskagent.repair.types import Frame, Outcome, TestResult

_DEATHS = 8  # runs lost to a hanging or crashing test before the rest is left unknown


@dataclass
class Look:
    """What the tests did. `gathered` are seconds for imports and collection, `peak` bytes beyond the worker's."""

    results: dict[str, TestResult] = field(default_factory=dict)
    coverage: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    gathered: float = 0.0
    peak: int = 0
    seconds: float = 0.0

    def add(self, report: Report) -> None:
        for name, result in report.results.items():
            self.results.setdefault(name, result)
        for test, files in report.coverage.items():
            known = self.coverage.setdefault(test, {})
            for path, lines in files.items():
                known.setdefault(path, set()).update(lines)
        self.modules = self.modules or report.modules
        self.gathered = max(self.gathered, report.gathered or 0.0)
        self.peak = max(self.peak, report.peak)


def look(
    slot: Slot, *, trace: bool, test_seconds: float, until: float, ids: tuple[str, ...] | None = None
) -> Look:
    """Runs all tests (or `ids`) on the unedited tree, `test_seconds` of processor time each, all of it until the
    monotonic time `until`.

    After a test that hangs or takes the interpreter with it, the rest runs in a new process. Once one has hung, the
    others get twenty times what the slowest passing one took.
    """
    found = Look()
    limit = test_seconds
    slot.ready()
    begun = time.monotonic()
    for _ in range(_DEATHS):
        left = until - time.monotonic()
        if left <= 0:
            break
        job = Job(ids=ids, skip=tuple(found.results), trace=trace, first=True, limit=limit, seconds=left)
        report = slot.warm(job)
        culprit = _culprit(report)
        if culprit is not None:
            report.results[culprit.id] = culprit
        whole = report.results.get("")
        if whole is not None and not whole.frames and report.output:
            report.results[""] = replace(whole, message=f"{whole.message}\n{report.output[-4000:]}".strip())
        found.add(report)
        died_outside = culprit is not None and not culprit.id
        if report.ended or report.why == "cancelled" or died_outside:
            break
        if any(r.outcome is Outcome.TIMEOUT for r in report.results.values()):
            slowest = max(
                (r.seconds for r in found.results.values() if r.outcome is Outcome.PASSED), default=0.0
            )
            limit = min(limit, max(0.5, 20 * slowest))
    found.seconds = time.monotonic() - begun
    slot.settle()
    return found


def _culprit(report: Report) -> TestResult | None:
    """The result of the test in which a run stopped, None if it told its end itself."""
    if report.ended or (
        not report.current and any(r.outcome is Outcome.TIMEOUT for r in report.results.values())
    ):
        return None
    if report.why == "timeout":
        return TestResult(
            report.current, Outcome.TIMEOUT, message="Ran out of time, and could not be interrupted."
        )
    how = f"killed by signal {-report.code}" if report.code < 0 else f"ended with exit status {report.code}"
    was = "was " if report.code < 0 else ""
    return TestResult(
        report.current, Outcome.ERROR, message=f"The interpreter {was}{how}.\n{report.output[-4000:]}".strip()
    )


def merge(plain: Look, traced: Look) -> tuple[TestResult, ...]:
    """The results of the run without a tracer, with places from the other where they are missing."""
    merged = []
    for name, result in plain.results.items():
        other = traced.results.get(name)
        frames: tuple[Frame, ...] = result.frames or (other.frames if other and other.outcome.bad else ())
        message = result.message or (other.message if other and result.outcome.bad else "")
        merged.append(replace(result, frames=frames, message=message))
    return tuple(merged)
