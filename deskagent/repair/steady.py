"""Tests whose result changes with nothing changed: noticed, said, and never taken for a repair."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from deskagent.repair.cold import ColdRun
from deskagent.repair.protocol import Report
from deskagent.repair.types import Outcome, TestResult

CONTROLS = 3
"""So often a test is run again on the unedited tree before its result counts as steady."""
_LUCK = 1e-4
"""A patch for a test that passes by itself now and then passes so often in a row by luck at most."""
_AGAIN, _AGAIN_FLAKY, _AGAIN_MOST = 2, 8, 30
_QUICK, _LONG = 2.0, 20.0  # seconds
_VETTED = 20  # passing tests that get a control of their own
_NAMED = 3


@dataclass
class Steady:
    """What repeated runs have shown. `passed` are tests that failed at first and passed on the same tree later, with
    (times passed, runs); `failed` are tests that passed at first and failed on the same tree later; `wavered` passed
    and failed with one and the same candidate. `again`: how often more a green candidate has to pass.

    Methods may be called from any thread.
    """

    passed: dict[str, tuple[int, int]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    wavered: set[str] = field(default_factory=set)
    again: int = _AGAIN
    _vetted: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def controlled(self, failing: Iterable[str], runs: Iterable[Mapping[str, bool]]) -> frozenset[str]:
        """Takes control runs (test → whether it passed) of tests that failed at first; which of them don't count,
        because others fail steadily. Where none does, they count, and a patch has to pass more often."""
        names, seen = list(failing), list(runs)
        for name in names:
            results = [run[name] for run in seen if name in run]
            if any(results):
                self.passed[name] = (sum(results), len(results) + 1)
        if self.passed.keys() >= set(names):
            likeliest = max(((passed + 1) / (runs + 2) for passed, runs in self.passed.values()), default=0.5)
            needed = math.ceil(math.log(_LUCK) / math.log(likeliest))
            self.again = max(_AGAIN_FLAKY, min(_AGAIN_MOST, needed))
            return frozenset()
        return frozenset(self.passed)

    def to_vet(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of `names` that haven't had a control yet; each is given once, and only so many."""
        with self._lock:
            fresh = [name for name in dict.fromkeys(names) if name not in self._vetted]
            given = tuple(fresh[: max(0, _VETTED - len(self._vetted))])
            self._vetted.update(given)
        return given

    def broke(self, names: Iterable[str]) -> None:
        """Tests that failed in a control though they passed at first."""
        with self._lock:
            self.failed.update(names)

    def waver(self, names: Iterable[str]) -> None:
        """Tests that passed and then failed with one candidate."""
        with self._lock:
            self.wavered.update(names)
            self.again = max(self.again, _AGAIN_FLAKY)

    def notices(self) -> tuple[str, ...]:
        """What there is to say of it, a sentence or two each."""
        with self._lock:
            passed, failed, wavered = (
                dict(self.passed),
                sorted(self.failed),
                sorted(self.wavered - self.passed.keys()),
            )
            again = self.again
        found = []
        for name, (times, runs) in list(passed.items())[:_NAMED]:
            found.append(f"{name} is flaky: with nothing changed it passed in {times} of {runs} runs.")
        if len(passed) > _NAMED:
            found.append(f"So are {len(passed) - _NAMED} more.")
        if wavered:
            found.append(f"{_some(wavered)} passed and failed with the same edit: flaky, or made so by it.")
        if again > _AGAIN:
            found.append(f"So that luck is no repair, a patch has to pass {again + 1} times in a row.")
        elif passed:
            found.append("Flaky tests do not count; the others decide.")
        if failed:
            found.append(
                f"{_some(failed)} passed at first and failed later with nothing changed: flaky, not counted."
            )
        return tuple(found)


def controls(failing: Sequence[TestResult], seconds: float, warm: bool, doubted: bool = False) -> int:
    """How many control runs tests that failed are worth: `seconds` is a cold run's time. doubted: they passed in the
    warm worker, which may be luck."""
    if not failing or all(result.outcome is Outcome.TIMEOUT for result in failing):
        return 0
    if warm:
        return CONTROLS if sum(result.seconds for result in failing) < _QUICK else 1
    count = CONTROLS - 1 if seconds < _QUICK else 1 if seconds < _LONG else 0
    return count + (2 if seconds < _LONG / 4 else 1) if doubted else count


def warm_outcomes(report: Report, names: Iterable[str]) -> dict[str, bool]:
    """Test → whether it passed, for those of `names` of which the run says so."""
    results = {name: report.results[name].outcome for name in names if name in report.results}
    return {
        name: outcome is Outcome.PASSED for name, outcome in results.items() if outcome is not Outcome.SKIPPED
    }


def cold_outcomes(run: ColdRun, names: Iterable[str]) -> dict[str, bool]:
    """The same from a run of the exact command. Where it failed without saying which tests did, all did."""
    told = {result.id for result in run.printed.failing}
    whole = bool(told) and run.printed.failed == len(told)
    return {name: run.green or (whole and name != "" and name not in told) for name in names}


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
