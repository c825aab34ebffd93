"""Tells whether a candidate is green: failing tests first, then affected ones, then all, two candidates at a time.

Each slot has a scratch copy and a warm worker in it. Where no worker can run the tests, the exact command runs cold for
each candidate.
"""

from __future__ import annotations

import hashlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Self, TypeVar

from deskagent.repair.cold import ColdRun
from deskagent.repair.command import TestCommand
from deskagent.repair.judge import Judged, Patience, affected, judge
from deskagent.repair.look import Look, look, merge
from deskagent.repair.protocol import Job
from deskagent.repair.slot import Setting, Slot, Tasks
from deskagent.repair.types import Baseline, Outcome, Status, TestResult, Verdict
from deskagent.repair.warm import WorkerGone
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import End, Limits

_log = logging.getLogger(__name__)
_PROOF = 5.0  # seconds: a faster suite runs once more after the preload, whole
_MEMORY = 1 << 30  # bytes that a candidate may always take
T = TypeVar("T")


class Verifier:
    """Verifies candidates for one project. A context manager; `close` ends everything within a second or two.

    `warm` says whether a worker runs the tests, `reason` why not; `flaky` the tests whose result changes from run
    to run: they aren't counted.
    """

    def __init__(
        self,
        project: Path,
        command: TestCommand,
        *,
        sandbox: Sandbox,
        slots: int = 2,
        limits: Limits = Limits(seconds=None),  # noqa: B008 - frozen
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self.project = project.resolve()
        self.command = command
        self.warm = command.runner != "command" and command.interpreter is not None
        self.reason = "" if self.warm else "The command is neither pytest nor unittest by a known Python."
        self.flaky: frozenset[str] = frozenset()
        self._patience = patience
        self._limits = limits
        self._setting = Setting(self.project, command, sandbox, limits)
        self._tasks: Tasks = queue.SimpleQueue()
        self._slots = [Slot(self._setting, self._tasks, number) for number in range(1, slots + 1)]
        self._lock = threading.Lock()
        self._known: dict[bytes, Future[Verdict]] = {}
        self._baseline: Baseline | None = None
        self._gather = 30.0
        self._memory = 0
        for slot in self._slots:
            slot.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def baseline(
        self, *, cold: ColdRun | None = None, test_seconds: float = 5.0, seconds: float = 300.0
    ) -> Baseline:
        """Runs all tests on the unedited tree, with and without a tracer at the same time.

        `cold` is a run of the exact command just before: where the two disagree, the exact command is right. Coverage
        under "" is of lines that ran outside of any test (imports, collection). `test_seconds` of processor
        time is what a test may take here at most, `seconds` of wall time the whole. Raises what `make_scratch`
        raises, and `slot.Closed`.
        """
        found = None
        if self.warm:
            try:
                found = self._warm_baseline(test_seconds, seconds)
                found = self._agree(found, cold)
            except WorkerGone as error:
                self._go_cold(error.message)
        if not self.warm or found is None:
            found = self._cold_baseline(cold, seconds)
        self._baseline = found
        self._default, self._slow = self._patience.limits(found)
        return found

    def submit(self, files: Mapping[str, bytes]) -> Future[Verdict]:
        """Verifies the tree with `files` (project-relative path → bytes) in it. Equal files give the same future.

        From any thread, after `baseline`. The future raises TransientError where the disk is full and
        `slot.Closed` where `close` came first; all that the candidate itself does is a Verdict.
        """
        if self._baseline is None:
            raise RuntimeError("baseline() comes before submit()")
        key = _key(files)
        with self._lock:
            future = self._known.get(key)
            if future is None or future.cancelled():
                future = self._known[key] = self._put(lambda slot: self._verify(slot, dict(files)))
        return future

    def close(self) -> None:
        """Ends all runs, processes and copies. What waits or runs raises `slot.Closed`. May be called again."""
        self._setting.closing.set()
        for slot in self._slots:
            slot.kill()
            self._tasks.put(None)
        for slot in self._slots:
            slot.join()

    def _put(self, work: Callable[[Slot], T]) -> Future[T]:
        future: Future[T] = Future()
        self._tasks.put((future, work))
        return future

    def _warm_baseline(self, test_seconds: float, seconds: float) -> Baseline:
        plain_run = self._put(
            lambda slot: look(slot, trace=False, test_seconds=test_seconds, seconds=seconds)
        )
        traced_run = self._put(
            lambda slot: look(slot, trace=True, test_seconds=test_seconds, seconds=seconds)
        )
        plain = plain_run.result()
        traced = traced_run.result()
        if set(plain.results) == {""} and "" in plain.results and not plain.results[""].frames:
            raise WorkerGone(plain.results[""].message)
        self._add_coverage(plain, traced, test_seconds)
        results = merge(plain, traced)
        coverage = {
            test: {path: frozenset(lines) for path, lines in files.items()}
            for test, files in traced.coverage.items()
        }
        self._gather = self._patience.gather(plain.gathered)
        self._memory = max(_MEMORY, 2 * plain.peak)
        found = Baseline(results, coverage, plain.seconds, self.command.runner)
        self._preload(found, plain, test_seconds, seconds)
        return found

    def _add_coverage(self, plain: Look, traced: Look, test_seconds: float) -> None:
        """The failing tests' coverage matters most: if time ran out before their turn, they get one of their own."""
        lacking = tuple(n for n, r in plain.results.items() if r.outcome.bad and n not in traced.coverage)
        if lacking and len(traced.results) < len(plain.results):
            again = self._put(
                lambda slot: look(slot, trace=True, test_seconds=test_seconds, seconds=60.0, ids=lacking)
            ).result()
            for name in lacking:
                if name in again.coverage:
                    traced.coverage[name] = again.coverage[name]

    def _preload(self, found: Baseline, plain: Look, test_seconds: float, seconds: float) -> None:
        """Has the workers import what the tests import from outside the project, and sees that nothing changes."""
        whole = found.seconds < _PROOF
        ids = None if whole else tuple(r.id for r in found.failing) or None
        if not plain.modules or (ids is None and not whole):
            return
        self._setting.preload = plain.modules

        def proof() -> frozenset[str]:
            run = self._put(
                lambda slot: look(slot, trace=False, test_seconds=test_seconds, seconds=seconds, ids=ids)
            ).result()
            return frozenset(
                r.id for r in found.results
                if r.id in run.results and run.results[r.id].outcome.bad != r.outcome.bad
            )  # fmt: skip

        if proof():
            self._setting.preload = ()
            self.flaky = proof()

    def _agree(self, found: Baseline, cold: ColdRun | None) -> Baseline:
        """Falls back to cold runs where the warm ones miss the failure; sets aside what fails in them alone."""
        if cold is None and not found.failing:
            cold = self._put(lambda slot: slot.cold(self._limits)).result()
        if cold is None or cold.green:
            return found
        if not found.failing:
            self._go_cold("The tests pass in the warm worker, but the exact command fails.")
            return found
        told = {r.id for r in cold.printed.failing}
        if cold.printed.failed == len(told) and told:
            alone = {r.id for r in found.failing} - told
            if len(alone) < len(found.failing):
                self.flaky |= alone
        if self.flaky >= {r.id for r in found.failing}:
            self.flaky = frozenset()
        return found

    def _go_cold(self, reason: str) -> None:
        _log.warning("no warm worker: %s", reason)
        self.warm, self.reason = False, reason

    def _cold_baseline(self, cold: ColdRun | None, seconds: float) -> Baseline:
        run = cold or self._put(lambda slot: slot.cold(Limits(seconds=seconds))).result()
        results = run.printed.results
        if not run.green and not run.printed.failing:
            outcome = Outcome.TIMEOUT if run.result.end is End.TIMEOUT else Outcome.FAILED
            results = (*results, TestResult("", outcome, run.result.seconds, run.result.text[-16000:]))
        return Baseline(results, {}, run.result.seconds, "command")

    def _verify(self, slot: Slot, files: dict[str, bytes]) -> Verdict:
        begun = time.monotonic()
        try:
            return slot.with_files(files, lambda: self._stages(slot, files, begun))
        except WorkerGone as error:
            return Verdict(Status.CRASHED, (), time.monotonic() - begun, "", error.message)

    def _stages(self, slot: Slot, files: dict[str, bytes], begun: float) -> Verdict:
        if not self.warm:
            return self._cold_verdict(slot, begun)
        seen: dict[str, TestResult] = {}
        stage = ""
        for stage, ids, failing, passing in self._plan(files):
            judged = self._run_stage(slot, ids, failing, passing)
            seen |= {r.id: r for r in judged.results}
            if judged.status is not Status.GREEN:
                return Verdict(
                    judged.status, tuple(seen.values()), time.monotonic() - begun, stage, judged.detail
                )
        return Verdict(Status.GREEN, tuple(seen.values()), time.monotonic() - begun, stage)

    def _plan(
        self, files: Mapping[str, bytes]
    ) -> Iterator[tuple[str, tuple[str, ...] | None, list[str], list[str]]]:
        """(stage, ids to run, of them those that failed before, those that passed). No test is run in vain."""
        assert self._baseline is not None
        failing = [r.id for r in self._baseline.failing]
        passing = [r.id for r in self._baseline.passing]
        known = len(self._baseline.results)
        wanted = [name for name in failing if name not in self.flaky]
        if wanted:
            yield "failing", tuple(wanted), failing, []
            if len(wanted) == known and self._whole(wanted):
                return
        touched = affected(self._baseline.coverage, self._before(files), files)
        if touched:
            near = [name for name in passing if name in touched and name not in self.flaky]
            if near and len(near) < 0.5 * known:
                yield "affected", tuple(near), [], near
        yield "all", None, failing, passing

    def _whole(self, names: list[str]) -> bool:
        """Whether these are all the tests there are: none of them stands for a file or class not yet seen into."""
        assert self._baseline is not None
        return bool(self._baseline.coverage) and all(name in self._baseline.coverage for name in names)

    def _before(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {name: (self.project / name).read_bytes() for name in files if (self.project / name).is_file()}

    def _run_stage(
        self, slot: Slot, ids: tuple[str, ...] | None, failing: list[str], passing: list[str]
    ) -> Judged:
        assert self._baseline is not None
        slow = self._slow if ids is None else {name: self._slow[name] for name in ids if name in self._slow}
        job = Job(
            ids=ids,
            skip=tuple(self.flaky),
            stop=True,
            limit=self._default,
            slow=slow,
            gather=self._gather,
            memory=self._memory,
            seconds=self._patience.whole(self._baseline, ids),
        )
        return judge(slot.warm(job), failing, passing, self.flaky)

    def _cold_verdict(self, slot: Slot, begun: float) -> Verdict:
        assert self._baseline is not None
        seconds = max(10.0, 5 * self._baseline.seconds)
        run = slot.cold(Limits(seconds=seconds))
        status = _COLD.get(run.result.end, Status.GREEN if run.green else Status.RED)
        if status is Status.RED and run.result.code > 128:
            status = Status.CRASHED
        return Verdict(status, run.printed.results, time.monotonic() - begun, "all", run.result.detail)


_COLD = {End.TIMEOUT: Status.TIMEOUT, End.MEMORY: Status.CRASHED, End.SIGNALED: Status.CRASHED}


def _key(files: Mapping[str, bytes]) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(
            f"{len(name)}:{name}:{len(files[name])}:".encode("utf-8", "surrogateescape") + files[name]
        )
    return digest.digest()
