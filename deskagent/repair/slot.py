"""A slot: one scratch copy with its warm worker, and the thread that both belong to."""

from __future__ import annotations

import logging
import math
import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from deskagent.errors import DeskagentError, TransientError
from deskagent.repair.cold import ColdRun, copy_for, run_in
from deskagent.repair.command import TestCommand
from deskagent.repair.footprint import Footprint
from deskagent.repair.protocol import Job, Report
from deskagent.repair.warm import Worker, WorkerGone
from deskagent.repo.scratch import Scratch
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import Limits

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Closed(DeskagentError):
    """The verifier was closed while this was waiting or running."""


@dataclass
class Setting:
    """What all slots share. `preload` may grow, `level` sink while they run. `until` is the monotonic time at which no
    worker is waited for any longer."""

    project: Path
    command: TestCommand
    sandbox: Sandbox
    limits: Limits
    preload: tuple[str, ...] = ()
    level: str = "deep"
    until: float = math.inf
    closing: threading.Event = field(default_factory=threading.Event)


Tasks = queue.SimpleQueue[tuple[Future, Callable[["Slot"], object]] | None]


class Slot(threading.Thread):
    """Takes tasks from a queue that it shares with the other slots, until it finds None there.

    The kernel ends a sandbox when the thread that started it ends, so copies and workers are made and used on
    this thread alone.
    """

    def __init__(self, setting: Setting, tasks: Tasks, number: int) -> None:
        super().__init__(name=f"test slot {number}", daemon=True)
        self.setting = setting
        self._tasks = tasks
        self._scratch: Scratch | None = None
        self._footprint: Footprint | None = None
        self._worker: Worker | None = None
        self._preloaded: tuple[str, ...] = ()

    def run(self) -> None:
        try:
            while (task := self._tasks.get()) is not None:
                future, work = task
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    if self.setting.closing.is_set():
                        raise Closed("The verifier is closed.")
                    future.set_result(work(self))
                except BaseException as error:  # whoever waits for the future gets it
                    future.set_exception(error)
        finally:
            self.reset()

    def kill(self) -> None:
        """From any thread: ends what its worker does now."""
        worker = self._worker
        if worker is not None:
            worker.kill()

    @property
    def scratch(self) -> Scratch:
        if self._scratch is None:
            setting = self.setting
            self._scratch = copy_for(setting.project, setting.command, setting.sandbox)
            self._footprint = Footprint(self._scratch.root, self._scratch.shared)
        return self._scratch

    def with_files(self, files: Mapping[str, bytes | None], work: Callable[[], T]) -> T:
        """Does `work` while `files` are in the copy (None: gone). A copy that was damaged is made anew for the next."""
        if self._holds(files):
            if self.setting.level == "bare":  # pytest itself imports it: each edit needs a worker of its own
                self.stop_worker()
            self.setting.level = "bare"
        self.scratch.write(files)
        try:
            return work()
        finally:
            if self._holds(files):
                self.stop_worker()
            try:
                self.scratch.restore()
                damage = self._footprint.damaged() if self._footprint else ""
            except TransientError as error:
                damage = error.message
            if damage:
                _log.info("a candidate damaged the scratch copy (%s): it is made anew", damage)
                self.reset()

    def _holds(self, files: Iterable[str]) -> bool:
        """Whether the worker has imported one of `files` before any run."""
        return self._worker is not None and not self._worker.ready.loaded.isdisjoint(files)

    def warm(self, job: Job) -> Report:
        """Runs `job` in the warm worker. A worker that dies of it is told as a report that has not ended."""
        worker = self.ready()
        try:
            report = worker.run(job, self.setting.until)
        except WorkerGone as error:
            self.stop_worker()
            report = Report(why="gone", output=error.message)
        if self.setting.closing.is_set():  # what ended may have been ended by us
            raise Closed("The verifier is closed.")
        return report

    def cold(
        self, limits: Limits, command: TestCommand | None = None, writable: tuple[Path, ...] = ()
    ) -> ColdRun:
        """Runs the exact command in the copy, or `command` in its place."""
        run = run_in(
            self.scratch,
            command or self.setting.command,
            sandbox=self.setting.sandbox,
            limits=limits,
            cancel=self.setting.closing,
            writable=writable,
        )
        if self.setting.closing.is_set():
            raise Closed("The verifier is closed.")
        return run

    def settle(self) -> None:
        """The unedited tests have run here: what they changed in the copy is no damage."""
        if self._footprint is not None:
            self._footprint.settle()

    def stop_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def reset(self) -> None:
        """Throws the worker and the copy away; the next task gets new ones."""
        self.stop_worker()
        scratch, self._scratch, self._footprint = self._scratch, None, None
        if scratch is not None:
            scratch.close()

    def ready(self) -> Worker:
        """The worker, started and prepared if it isn't yet. WorkerGone if it can't be."""
        setting = self.setting
        worker = self._worker
        if worker is not None and (
            worker.level != setting.level or (self._preloaded and not setting.preload)
        ):
            self.stop_worker()
        if self._worker is None:
            self._begin()
        assert self._worker is not None
        if self._preloaded != setting.preload:
            self._preloaded = setting.preload
            self._worker.preload(setting.preload, setting.until)
        return self._worker

    def _begin(self) -> None:
        setting = self.setting
        self._preloaded = ()
        self._worker = Worker(
            self.scratch, setting.command, sandbox=setting.sandbox, limits=setting.limits, level=setting.level
        )
        try:
            if setting.closing.is_set():  # `kill` may have come before there was anything to kill
                raise Closed("The verifier is closed.")
            self._worker.begin(setting.until)
        except BaseException:
            self.stop_worker()
            raise
