"""Where conversations lay their patches down, the search takes them up, and the tests' word on them comes back."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future

from deskagent.repair.search import Trial
from deskagent.repair.slot import Closed
from deskagent.repair.types import Candidate, Verdict


class Table:
    """An `Aside` of a search. Any number of threads may lay down."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._laid: deque[Candidate] = deque()
        self._asked: dict[str, list[Future[Verdict]]] = {}
        self._sitting = 0
        self._closed = False
        self.own: set[str] = set()
        """Keys of all that was laid down."""

    def sit(self) -> None:
        """Somebody begins who may lay something down; `rise` ends it."""
        with self._change:
            self._sitting += 1

    def rise(self) -> None:
        with self._change:
            self._sitting -= 1
            self._change.notify_all()

    def lay(self, candidate: Candidate) -> Future[Verdict]:
        """Has a patch tried, before all others. The future raises `Closed` where the search is over."""
        asked: Future[Verdict] = Future()
        with self._change:
            if self._closed:
                asked.set_exception(Closed("The search is over."))
                return asked
            self.own.add(candidate.key)
            self._asked.setdefault(candidate.key, []).append(asked)
            self._laid.append(candidate)
            self._change.notify_all()
        return asked

    def tried(self, trial: Trial) -> None:
        """The search's word on a candidate, anybody's."""
        self._tell(trial.candidate.key, trial.verdict)

    def close(self) -> None:
        """Whoever waits for a word gets `Closed`."""
        with self._change:
            self._closed = True
            waiting = [asked for group in self._asked.values() for asked in group]
            self._asked.clear()
            self._laid.clear()
            self._change.notify_all()
        for asked in waiting:
            asked.set_exception(Closed("The search is over."))

    @property
    def working(self) -> bool:
        with self._change:
            return not self._closed and (self._sitting > 0 or bool(self._laid))

    def take(self) -> Candidate | None:
        with self._change:
            return self._laid.popleft() if self._laid else None

    def wait(self, seconds: float) -> None:
        with self._change:
            self._change.wait_for(lambda: self._laid or self._closed or not self._sitting, seconds)

    def again(self, candidate: Candidate, verdict: Future[Verdict]) -> None:
        verdict.add_done_callback(lambda done: self._done(candidate.key, done))

    def _done(self, key: str, done: Future[Verdict]) -> None:
        if not done.cancelled() and done.exception() is None:
            self._tell(key, done.result())

    def _tell(self, key: str, verdict: Verdict) -> None:
        with self._change:
            waiting = self._asked.pop(key, [])
        for asked in waiting:
            asked.set_result(verdict)
