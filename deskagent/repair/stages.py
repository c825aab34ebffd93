"""What a slot does with a candidate: failing tests first, then affected ones, all, and the failing ones again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from deskagent.errors import TransientError, UsageError
from deskagent.repair import cold
from deskagent.repair.cold import ColdRun
from deskagent.repair.judge import Judged, Patience, affected, judge
from deskagent.repair.protocol import Job
from deskagent.repair.slot import Slot
from deskagent.repair.steady import CONTROLS, Steady, cold_outcomes, warm_outcomes
from deskagent.repair.toolchains.base import Toolchain
from deskagent.repair.types import Baseline, Status, TestResult, Verdict
from deskagent.repair.warm import WorkerGone
from deskagent.terminal.types import Limits

_NARROWED = 1.0  # seconds that all tests take, from which on the failing ones run alone first
_LONG_LOOK = 12  # runs
_WAVERED = "It passed, and then failed with the same files."
Stage = tuple[str, tuple[str, ...] | None, list[str], list[str]]
"""Name, ids to run (None: all), of them those that failed before, those that passed."""


@dataclass
class Stages:
    """Judges trees by the tests of `project`, in any slot's thread. `gather` seconds are for imports and collection,
    `memory` bytes for a candidate, `flaky` tests aren't counted, nor are those `beside` the ones that are asked for.
    Where the tests aren't run `warm`, the exact command decides, or what its `tool` chain makes of it."""

    project: Path
    baseline: Baseline
    warm: bool
    flaky: frozenset[str]
    steady: Steady
    patience: Patience
    gather: float
    memory: int
    tool: Toolchain | None = None
    beside: frozenset[str] = frozenset()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.limit, self.slow = self.patience.limits(self.baseline)

    def verify(self, slot: Slot, files: dict[str, bytes]) -> Verdict:
        """How the tree with `files` does."""
        begun = time.monotonic()
        try:
            verdict = slot.with_files(files, lambda: self._all(slot, files, begun))
            if self._broken_by_chance(slot, verdict, files):
                verdict = slot.with_files(files, lambda: self._all(slot, files, begun))
            return verdict
        except WorkerGone as error:
            return Verdict(Status.CRASHED, (), time.monotonic() - begun, "", error.message)

    def probe(self, slot: Slot, files: Mapping[str, bytes | None], names: tuple[str, ...] = ()) -> Verdict:
        """How the failing tests (or those of them in `names`) alone do on the tree with `files` (None: gone). BROKEN
        where these can't be set."""
        begun = time.monotonic()
        shared = slot.scratch.shared
        fit = {
            n: d for n, d in files.items() if not any(f"{n}/".startswith(f"{folder}/") for folder in shared)
        }
        try:
            return slot.with_files(fit, lambda: self._failing_alone(slot, begun, names or self._wanted))
        except WorkerGone as error:
            return Verdict(Status.CRASHED, (), time.monotonic() - begun, "", error.message)
        except (UsageError, TransientError) as error:  # another time's paths may not fit among today's
            slot.reset()
            return Verdict(Status.BROKEN, (), time.monotonic() - begun, "", error.message)

    def outcomes(self, slot: Slot, names: tuple[str, ...], files: Mapping[str, bytes]) -> dict[str, bool]:
        """Which of the tests `names` pass on the tree with `files`, as far as it can be told."""
        if not self.warm:
            return cold_outcomes(slot.with_files(files, lambda: self._cold_run(slot)), names)
        try:
            return warm_outcomes(
                slot.with_files(files, lambda: slot.warm(self.job(names, stop=False))), names
            )
        except WorkerGone:
            return {}

    def job(self, ids: tuple[str, ...] | None, *, stop: bool) -> Job:
        """A run of `ids` (None: all tests), each with the time it may take."""
        slow = self.slow if ids is None else {name: self.slow[name] for name in ids if name in self.slow}
        return Job(
            ids=ids,
            skip=tuple(self._uncounted),
            stop=stop,
            limit=self.limit,
            slow=slow,
            gather=self.gather,
            memory=self.memory,
            seconds=self.patience.whole(self.baseline, ids),
        )

    def _all(self, slot: Slot, files: dict[str, bytes], begun: float) -> Verdict:
        if not self.warm:
            return self._cold_verdict(slot, begun)
        seen: dict[str, TestResult] = {}
        stage = ""
        for stage, ids, failing, passing in self._plan(files):
            judged = self._run(slot, ids, failing, passing)
            seen |= {r.id: r for r in judged.results}
            if judged.status is not Status.GREEN:
                return Verdict(
                    judged.status, tuple(seen.values()), time.monotonic() - begun, stage, judged.detail
                )
        for _ in range(self.steady.again if self._wanted else 0):
            judged = self._run(slot, self._wanted, [*self._wanted], [])
            if judged.status is not Status.GREEN:
                self.steady.waver(r.id for r in judged.results if r.outcome.bad)
                return Verdict(Status.RED, judged.results, time.monotonic() - begun, "again", _WAVERED)
        left = self._left(slot)
        return Verdict(Status.GREEN, tuple(seen.values()), time.monotonic() - begun, stage, left=left)

    def _left(self, slot: Slot) -> tuple[str, ...]:
        """Of the tests that aren't asked for, those that don't pass in this tree."""
        names = tuple(sorted(self.beside))
        if not names:
            return ()
        try:
            passed = warm_outcomes(
                slot.warm(replace(self.job(names, stop=False), skip=tuple(self.flaky))), names
            )
        except WorkerGone:
            passed = {}
        return tuple(name for name in names if not passed.get(name, False))

    def _plan(self, files: Mapping[str, bytes]) -> Iterator[Stage]:
        """The stages, without a test that is run in vain."""
        failing = [r.id for r in self.baseline.failing]
        passing = [r.id for r in self.baseline.passing]
        known = len(self.baseline.results)
        wanted = self._wanted
        if wanted:
            yield "failing", wanted, failing, []
            if len(wanted) == known and self._whole(wanted):
                return
        touched = affected(self.baseline.coverage, self._before(files), files)
        if touched:
            near = [name for name in passing if name in touched and name not in self.flaky]
            if near and len(near) < 0.5 * known:
                yield "affected", tuple(near), [], near
        yield "all", None, failing, passing

    @property
    def _wanted(self) -> tuple[str, ...]:
        """The failing tests that count."""
        return tuple(r.id for r in self.baseline.failing if r.id not in self._uncounted)

    @property
    def _uncounted(self) -> frozenset[str]:
        return self.flaky | self.beside

    def _whole(self, names: tuple[str, ...]) -> bool:
        """Whether these are all the tests there are: none of them stands for a file or class not yet seen into."""
        return bool(self.baseline.coverage) and all(name in self.baseline.coverage for name in names)

    def _before(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {name: (self.project / name).read_bytes() for name in files if (self.project / name).is_file()}

    def _run(self, slot: Slot, ids: tuple[str, ...] | None, failing: list[str], passing: list[str]) -> Judged:
        return judge(slot.warm(self.job(ids, stop=True)), failing, passing, self._uncounted)

    def _cold_verdict(self, slot: Slot, begun: float) -> Verdict:
        wanted = [
            n for n in self._wanted if not (self.project / n).is_file()
        ]  # a file that didn't load: its tests tell
        narrow = (
            self.tool.only([r for r in self.baseline.failing if r.id in self._wanted]) if self.tool else None
        )
        if narrow is not None and self.baseline.seconds > _NARROWED:
            run = slot.cold(self._cold_limits, narrow)
            found = cold.judged(run, time.monotonic() - begun, wanted, [], self.flaky, "failing")
            if found.status is not Status.GREEN:
                return found
        run = self._cold_run(slot)
        passing = [r.id for r in self.baseline.passing]
        found = cold.judged(run, time.monotonic() - begun, wanted, passing, self.flaky, "all")
        for _ in range(self.steady.again if self.steady.passed else 0):
            if found.status is not Status.GREEN:
                break
            found = cold.verdict(self._cold_run(slot), time.monotonic() - begun)
            if found.status is not Status.GREEN:
                self.steady.waver(r.id for r in found.results if r.outcome.bad)
                return replace(found, status=Status.RED, stage="again", detail=_WAVERED)
        return found

    def _cold_run(self, slot: Slot) -> ColdRun:
        return slot.cold(self._cold_limits, self.tool.named if self.tool else None)

    @property
    def _cold_limits(self) -> Limits:
        return Limits(seconds=max(10.0, 5 * self.baseline.seconds))

    def _broken_by_chance(self, slot: Slot, verdict: Verdict, files: dict[str, bytes]) -> bool:
        """Whether what a candidate seems to break fails without it too: then it isn't counted any more."""
        if not self.warm or verdict.status is not Status.RED or verdict.stage not in ("affected", "all"):
            return False
        passing = {r.id for r in self.baseline.passing} - self.flaky
        broken = tuple(r.id for r in verdict.results if r.outcome.bad and r.id in passing)
        wavers = any(self.outcomes(slot, broken, files).values()) if broken else False
        names = self.steady.to_vet(broken)
        # What passes with the same files at the second time is looked at for longer.
        for _ in range((_LONG_LOOK if wavers else CONTROLS) if names else 0):
            failed = frozenset(name for name, passed in self.outcomes(slot, names, {}).items() if not passed)
            if failed:
                self.steady.broke(failed)
                with self._lock:
                    self.flaky |= failed
                return True
        return False

    def _failing_alone(self, slot: Slot, begun: float, names: tuple[str, ...]) -> Verdict:
        if not self.warm:
            run = self._cold_run(slot)
            found = cold.verdict(run, time.monotonic() - begun)
            others = found.status is Status.RED and all(cold_outcomes(run, names).values())
            return replace(found, status=Status.GREEN) if others else found
        judged = self._run(slot, names, [*names], [])
        return Verdict(judged.status, judged.results, time.monotonic() - begun, "failing", judged.detail)
