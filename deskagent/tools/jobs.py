"""The commands that go on running beside a conversation, each in a terminal of its own."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from deskagent.terminal.pty import PtySession
from deskagent.terminal.types import Result
from deskagent.terminal.waiting import Waiting

MOST = 8
"""That run at once."""


@dataclass
class Job:
    """name: by which the model and the person call it. line: what it runs. taken: the person types there, so the model
    doesn't."""

    name: str
    line: str
    session: PtySession
    began: float = field(default_factory=time.monotonic)
    taken: bool = False

    @property
    def result(self) -> Result | None:
        """None while it runs."""
        return self.session.wait(0)

    @property
    def waiting(self) -> Waiting | None:
        return self.session.waiting()

    def news(self, seconds: float, cancel: threading.Event) -> str:
        """What it printed since the last time, waiting up to so long for it to end, or to wait for input."""
        until = time.monotonic() + seconds
        while self.result is None and not self.waiting and time.monotonic() < until and not cancel.is_set():
            self.session.wait(min(0.2, max(0.0, until - time.monotonic())))
        try:
            return self.session.read(0).decode("utf-8", "replace")
        except TimeoutError:
            return ""


class Jobs:
    """Those of one conversation. Closing ends them all."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._others: list[Callable[[], None]] = []
        self._watching: list[Callable[[], None]] = []

    def watch(self, added: Callable[[], None]) -> None:
        """Has `added` called, on any thread, after each job that begins."""
        self._watching.append(added)

    def end_with(self, close: Callable[[], None]) -> None:
        """What else ends with the conversation: `close` is called then."""
        self._others.append(close)

    def add(self, line: str, session: PtySession) -> Job:
        with self._lock:
            job = Job(f"job-{next(self._numbers)}", line, session)
            self._jobs[job.name] = job
        for added in self._watching:
            added()
        return job

    @property
    def all(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())

    @property
    def running(self) -> list[Job]:
        return [job for job in self.all if job.result is None]

    def find(self, name: str) -> Job | None:
        with self._lock:
            return self._jobs.get(name)

    def close(self) -> None:
        for job in self.all:
            job.session.terminate()
        for job in self.all:
            job.session.close()
        for close in self._others:
            close()
