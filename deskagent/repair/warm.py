"""One warm worker: started in a scratch copy, given jobs, thrown away when it misbehaves."""

from __future__ import annotations

import json
import math
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskagent.errors import DeskagentError
from deskagent.repair.cold import started
from deskagent.repair.command import TestCommand
from deskagent.repair.protocol import Job, Report, encode
from deskagent.repo.scratch import Scratch
from deskagent.terminal import spawn
from deskagent.terminal.sandbox import Sandbox
from deskagent.terminal.types import Limits, Rung

SCRIPT = Path(__file__).with_name("worker") / "__main__.py"
_START = 120.0  # seconds for an interpreter, the runner and conftests
_GRACE = 15.0  # seconds that a worker gets beyond a job's own time


class WorkerGone(DeskagentError):
    """The worker ended or no longer answers. `message` has its last words."""


@dataclass(frozen=True)
class Ready:
    """How far a worker is prepared: the level's name, the project's files it holds, its Python."""

    level: str
    loaded: frozenset[str]
    python: str


class Worker:
    """A running worker; `begin` comes first. All but `kill` is for the one thread that started it."""

    def __init__(
        self, scratch: Scratch, command: TestCommand, *, sandbox: Sandbox, limits: Limits, level: str = "deep"
    ) -> None:
        if command.interpreter is None:
            raise WorkerGone("It can't be told which Python runs the tests.")
        argv = (str(command.interpreter), *_flags(command), str(SCRIPT))
        self._process = spawn.start(
            started(argv, command, scratch), sandbox=sandbox, policy=scratch.policy, limits=limits
        )
        self._number = 0
        # Where a sandbox gives processes a temporary folder of their own, it goes away with them.
        self._folder = f"da{secrets.token_hex(4)}"
        self._own_temporary = sandbox.rung is not Rung.NONE
        self.level = level
        self._start = {
            "runner": command.runner,
            "args": list(scratch.relocated(command.args)),
            "project": str(scratch.seen_at),
            "cwd_first": command.as_module,
            "level": level,
            "folder": self._folder,
        }

    def begin(self, until: float = math.inf) -> None:
        """Waits until it is prepared. WorkerGone if it can't run these tests, or isn't ready at the monotonic time
        `until`."""
        self._prepare(self._start, until)

    def run(self, job: Job, until: float = math.inf) -> Report:
        """Runs `job` to its end. WorkerGone if the worker died of it, or says nothing until `until`."""
        self._number += 1
        report = Report()
        begun = time.monotonic()
        self._say(job.line(self._number))

        def take(line: bytes) -> None:
            report.take(line)
            if report.started and report.gathered is None:
                report.gathered = time.monotonic() - begun

        report.finish(self._until("done", min(begun + job.seconds + _GRACE, until), take))
        return report

    def preload(self, names: tuple[str, ...], until: float = math.inf) -> None:
        """Has it import modules that the tests need and that aren't the project's, if that leaves it fit to fork."""
        self._prepare({"op": "preload", "names": names}, until)

    def kill(self) -> None:
        """From any thread: what it does ends at once, whoever waits for it gets WorkerGone."""
        self._process.terminate(grace=0.0)

    def close(self) -> None:
        """Ends it and all below it, and deletes what its runs left in the temporary folder."""
        self._process.close()
        if not self._own_temporary:
            shutil.rmtree(Path(tempfile.gettempdir()) / self._folder, ignore_errors=True)

    def _prepare(self, order: Mapping[str, Any], until: float) -> None:
        deadline = min(time.monotonic() + _START, until)
        self._say(encode(order))
        message = self._until("ready", deadline)
        self.ready = Ready(message["level"], frozenset(message["loaded"]), message["python"])

    def _say(self, data: bytes) -> None:
        try:
            self._process.send(data, timeout=_START)
        except (OSError, TimeoutError) as error:
            raise WorkerGone(self._last_words()) from error

    def _until(
        self, event: str, deadline: float, take: Callable[[bytes], None] = lambda line: None
    ) -> dict[str, Any]:
        """Hands the lines of a test run to `take` until the worker itself says `event`."""
        while True:
            try:
                line = self._process.stdout.line(timeout=max(0.0, deadline - time.monotonic()))
            except (TimeoutError, ValueError, OSError) as error:
                raise WorkerGone("The test worker no longer answers.") from error
            if not line.endswith(b"\n"):
                raise WorkerGone(self._last_words())
            if line[:1] == b"c":
                take(line[1:])
            elif line[:1] == b"z":
                message = json.loads(line[1:])
                if message["e"] == event:
                    return message

    def _last_words(self) -> str:
        result = self._process.wait(2.0)
        words = self._process.stderr.decode("utf-8", "replace").strip()[-2000:]
        how = f" ({result.end}, status {result.code})" if result else ""
        return f"The test worker ended{how}: {words or 'it said nothing'}"


def _flags(command: TestCommand) -> list[str]:
    """What stands between the interpreter and `-m` (`python -X dev -W error -m pytest`)."""
    words = list(command.argv)
    ends = [i for i in range(len(words)) if words[i : i + 2] == ["-m", command.runner]]
    if not command.as_module or not ends:
        return []
    start = ends[0]
    while start > 0 and not Path(words[start - 1]).name.startswith(("python", "pypy")):
        start -= 1
    return words[start : ends[0]] if start else []
