"""Tells whether a candidate is green: failing tests first, then affected ones, then all, two candidates at a time.

Each slot has a scratch copy and a warm worker in it. Where no worker can run the tests, the exact command runs cold for
each candidate.
"""

from __future__ import annotations

import hashlib
import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

from deskagent.repair.cold import ColdRun
from deskagent.repair.cold_look import ColdLook
from deskagent.repair.command import TestCommand
from deskagent.repair.judge import Patience
from deskagent.repair.look import Look, look, merge
from deskagent.repair.looks import GLANCE, SECONDS, Looks
from deskagent.repair.protocol import Report
from deskagent.repair.slot import Closed, Setting, Slot, Tasks
from deskagent.repair.stages import Stages
from deskagent.repair.steady import Steady, controls
from deskagent.repair.toolchains import known as toolchains
from deskagent.repair.types import Baseline, Outcome, Verdict
from deskagent.repair.warm import WorkerGone
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import End, Limits, Rung

_log = logging.getLogger(__name__)
_TRACED = 4  # times as long a test may take with a tracer
_PROOF = 5.0  # seconds: a faster suite runs once more after the preload, whole
_LATE = 2.0  # seconds that an answer of the first look may be late
_MEMORY = 1 << 30  # bytes that a candidate may always take
T = TypeVar("T")


class Verifier:
    """Verifies candidates for one project. A context manager; `close` ends everything within a second or two.

    `warm` says whether a worker runs the tests, `reason` why not; `steady` what is known of tests whose result
    changes from run to run.
    """

    def __init__(
        self,
        project: Path,
        command: TestCommand,
        *,
        sandbox: Sandbox,
        slots: int = 2,
        limits: Limits = Limits(seconds=None),
        patience: Patience = Patience(),
    ) -> None:
        self.project = project.resolve()
        self.command = command
        self.warm = command.runner != "command" and command.interpreter is not None
        self.reason = "" if self.warm else "The command is neither pytest nor unittest by a known Python."
        self._flaky: frozenset[str] = frozenset()
        self._doubted = False
        self.steady = Steady()
        self._patience = patience
        self._limits = limits
        self._setting = Setting(self.project, command, sandbox, limits)
        self._tasks: Tasks = queue.SimpleQueue()
        self._slots = [Slot(self._setting, self._tasks, number) for number in range(1, slots + 1)]
        self._lock = threading.Lock()
        self._putting = threading.Lock()
        self._known: dict[bytes, Future[Verdict]] = {}
        self._judging: Stages | None = None
        self._looks = Looks(self._put)
        self._tool = toolchains.understand(command, self.project)
        self._gather = 30.0
        self._memory = 0
        for slot in self._slots:
            slot.start()

    @property
    def flaky(self) -> frozenset[str]:
        """Tests whose result changes from run to run; they aren't counted."""
        return self._judging.flaky if self._judging else self._flaky

    @property
    def _stages(self) -> Stages:
        if self._judging is None:
            raise RuntimeError("baseline() comes first")
        return self._judging

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prepare(self, seconds: float, *, look_too: bool = False) -> None:
        """Starts the workers beside what the caller does until `baseline`, which comes once. With `look_too` one
        of them runs the tests too, for so many `seconds` in all, and what makes later runs faster or surer is left out:
        for limits that are too short for one after the other."""
        if not self.warm:
            return
        until = time.monotonic() + seconds
        self._setting.until = until + min(_LATE, seconds)
        if look_too:
            self._looks.begin(until)
        else:
            for _ in self._slots:
                self._put(lambda slot: slot.ready())

    def baseline(
        self, *, cold: ColdRun | None = None, test_seconds: float = SECONDS, seconds: float = 300.0
    ) -> Baseline:
        """Runs all tests on the unedited tree, with and without a tracer at the same time.

        `cold` is a run of the exact command just before: where the two disagree, the exact command is right. Coverage
        under "" is of lines that ran outside of any test (imports, collection). `test_seconds` of processor
        time is what a test may take here at most, unless `cold` shows that none hangs; `seconds` of wall time
        the whole, up to two more where a worker doesn't answer. Raises what `make_scratch` raises, and `slot.Closed`.
        """
        until = time.monotonic() + seconds
        self._setting.until = until + min(_LATE, seconds)
        try:
            return self._baseline(cold, test_seconds, until)
        finally:
            self._setting.until = math.inf

    def _baseline(self, cold: ColdRun | None, test_seconds: float, until: float) -> Baseline:
        found, hurried = None, self._looks.begun
        glance = GLANCE
        if cold is not None and cold.result.end is End.EXITED:
            test_seconds = max(test_seconds, 2 * cold.result.seconds)
            glance = _TRACED * test_seconds
        if self.warm:
            try:
                found = self._warm_baseline(test_seconds, glance, until)
                # Perhaps it can't bear being prepared so far.
                if self._alone(found, cold) and time.monotonic() < until:
                    self._setting.level, self._setting.preload, self._flaky = "bare", (), frozenset()
                    found = self._warm_baseline(test_seconds, glance, until)
                self._agree(found, cold, until)
            except WorkerGone as error:
                self._go_cold(error.message)
        if not self.warm or found is None:
            run = ColdLook(self._tool, cold, until)
            found = self._put(run.baseline).result()
            self._tool = run.tool
        self._judging = Stages(
            self.project,
            found,
            self.warm,
            self._flaky,
            self.steady,
            self._patience,
            self._gather,
            self._memory,
            self._tool,
        )
        if time.monotonic() < until and not hurried:
            self._control(self._judging, until)
        return found

    def set_aside(self, names: frozenset[str]) -> None:
        """Has the failing tests `names` count no longer, after `baseline`, while `warm`: a candidate's verdict says
        which of them are `left`."""
        self._stages.beside = names

    def submit(self, files: Mapping[str, bytes]) -> Future[Verdict]:
        """Verifies the tree with `files` (project-relative path → bytes) in it. Equal files give the same future.

        From any thread, after `baseline`. The future raises TransientError where the disk is full and
        `slot.Closed` where `close` came before its end; all that the candidate itself does is a Verdict. After
        `close` this raises `slot.Closed` itself.
        """
        stages, key = self._stages, _key(files)
        with self._lock:
            future = self._known.get(key)
            if future is None or future.cancelled():
                future = self._known[key] = self._put(lambda slot: stages.verify(slot, dict(files)))
        return future

    def probe(self, files: Mapping[str, bytes | None], names: tuple[str, ...] = ()) -> Future[Verdict]:
        """Runs the tests that failed, of them only `names` where any are, on the tree with `files` in it (None: gone).

        After `baseline`. The future raises what `submit` raises; where the files can't be set it is BROKEN.
        """
        stages = self._stages
        return self._put(lambda slot: stages.probe(slot, dict(files), names))

    @property
    def confined(self) -> bool:
        """Whether the tests run in a sandbox."""
        return self._setting.sandbox.rung is not Rung.NONE

    def observe(
        self, files: Mapping[str, bytes], ids: Sequence[str], probe: Mapping[str, Any]
    ) -> Future[Report]:
        """Runs the tests `ids` to their end on the tree with `files` in it, with a probe beside them.

        After `baseline`, while `warm`. The future raises what `submit` raises, and WorkerGone.
        """
        job = self._stages.job(tuple(ids), stop=False)
        longer = job.limit + 10.0  # what a probe does counts as the test's time
        job = replace(job, skip=(), limit=longer, slow={}, seconds=10.0 + probe["seconds"], probe=probe)
        return self._put(lambda slot: slot.with_files(files, lambda: slot.warm(job)))

    def close(self) -> None:
        """Ends all runs, processes and copies. What waits or runs raises `slot.Closed`. May be called again."""
        with self._putting:
            self._setting.closing.set()
        for slot in self._slots:
            slot.kill()
            self._tasks.put(None)
        for slot in self._slots:
            slot.join()

    def _put(self, work: Callable[[Slot], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._putting:
            if self._setting.closing.is_set():
                raise Closed("The verifier is closed.")
            self._tasks.put((future, work))
        return future

    def _warm_baseline(self, test_seconds: float, glance: float, until: float) -> Baseline:
        hurried = self._looks.begun
        plain, traced = self._looks.both(test_seconds, glance, until)
        if set(plain.results) == {""} and "" in plain.results and not plain.results[""].frames:
            raise WorkerGone(plain.results[""].message)
        self._looks.add_coverage(plain, traced, glance, until)
        results = merge(plain, traced)
        coverage = {
            test: {path: frozenset(lines) for path, lines in files.items()}
            for test, files in traced.coverage.items()
        }
        self._gather = self._patience.gather(plain.gathered)
        self._memory = max(_MEMORY, 2 * plain.peak)
        found = Baseline(results, coverage, plain.seconds, self.command.runner)
        if not hurried:
            self._preload(found, plain, test_seconds, until)
        return found

    def _preload(self, found: Baseline, plain: Look, test_seconds: float, until: float) -> None:
        """Has the workers import what the tests import from outside the project, and sees that nothing changes."""
        whole = found.seconds < _PROOF
        ids = None if whole else tuple(r.id for r in found.failing) or None
        late = time.monotonic() + found.seconds > until
        if late or not plain.modules or (ids is None and not whole):
            return
        self._setting.preload = plain.modules

        def again() -> tuple[frozenset[str], bool]:
            """Which tests end otherwise now, and whether any ended at all: a runner may not bear it."""
            run = self._put(
                lambda slot: look(slot, trace=False, test_seconds=test_seconds, until=until, ids=ids)
            ).result()
            both = [r for r in found.results if r.id in run.results]
            return frozenset(r.id for r in both if run.results[r.id].outcome.bad != r.outcome.bad), bool(both)

        changed, ran = again()
        if changed or not ran:
            self._setting.preload = ()
            self._flaky, ran = again()
            if not ran and time.monotonic() < until:
                raise WorkerGone("A second run in the warm worker gave no test's result.")

    def _alone(self, found: Baseline, cold: ColdRun | None) -> frozenset[str]:
        """Tests that fail in the warm worker alone, as far as the exact command has told all its failures."""
        told = {r.id for r in cold.printed.failing} if cold else set()
        if cold is None or not told or cold.printed.failed != len(told):
            return frozenset()
        return frozenset(r.id for r in found.failing) - told - self._flaky

    def _agree(self, found: Baseline, cold: ColdRun | None, until: float) -> None:
        """Falls back to cold runs where the warm ones miss the failure; sets aside what fails in them alone."""
        if cold is None and not found.failing:
            limits = replace(self._limits, seconds=max(0.1, until - time.monotonic()))
            cold = self._put(lambda slot: slot.cold(limits)).result()
            if cold.result.end is End.TIMEOUT:
                return  # nothing is known of it then
        failing = {r.id for r in found.failing}
        if cold is not None and not cold.green:
            if not failing:
                self._doubted = True
                self._go_cold("The tests pass in the warm worker, but the exact command fails.")
            elif (alone := self._alone(found, cold)) < failing:
                self._flaky |= alone
        if self._flaky >= failing:
            self._flaky = frozenset()

    def _go_cold(self, reason: str) -> None:
        _log.warning("no warm worker: %s", reason)
        self.warm, self.reason = False, reason

    def _control(self, stages: Stages, until: float) -> None:
        """Runs the failing tests on the unedited tree again: what passes now and then is flaky."""
        failing = stages.baseline.failing
        names = tuple(r.id for r in failing if r.outcome is not Outcome.TIMEOUT)
        count = controls(failing, stages.baseline.seconds, self.warm, self._doubted)
        runs = [self._put(lambda slot: stages.outcomes(slot, names, {})) for _ in range(count)]
        done, late = wait(runs, timeout=min(3600.0, max(0.0, until - time.monotonic())))
        for run in late:
            run.cancel()
        seen = [run.result() for run in runs if run in done]
        flaky = stages.flaky | self.steady.controlled([r.id for r in failing], seen)
        everything = frozenset(r.id for r in failing)
        stages.flaky = flaky - everything if everything <= flaky else flaky


def _key(files: Mapping[str, bytes]) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(
            f"{len(name)}:{name}:{len(files[name])}:".encode("utf-8", "surrogateescape") + files[name]
        )
    return digest.digest()
