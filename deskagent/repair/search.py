"""The search: takes candidates from a ranked stream, has them verified some at a time, keeps the green ones.

A search lives as long as its candidate stream: `run` can be called again with a larger budget and goes on where
it stopped, so nothing is tried twice.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from deskagent.repair.budget import Budget, Limits
from deskagent.repair.types import Candidate, Status, Verdict

Submit = Callable[[Mapping[str, bytes]], "Future[Verdict]"]
Render = Callable[[Candidate], Mapping[str, bytes]]

_LOOK_AHEAD = 200
"""After the first green patch, as many of the next candidates are put in order of their distance from it."""
_DRAIN = 2.0
"""So many seconds has what is still running to come to an end."""
_GLANCE = 0.2
"""So often, in seconds, it is looked whether somebody hands in a candidate while there is room to try one."""
_RIVALS = (0.25, 5.0, 30.0)
_ALONE = (0.5, 10.0, 60.0)
"""How long the search goes on after the first green patch: share of the time used, at least and at most so many
seconds; and in all, as long as no other patch has passed."""


class Ended(StrEnum):
    """Why `run` came back."""

    GREEN = "green"
    LIMIT = "limit"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True)
class Trial:
    """One candidate tried: its number in the order of trying (from 1), and what happened."""

    number: int
    candidate: Candidate
    files: Mapping[str, bytes]
    verdict: Verdict


class Aside(Protocol):
    """Who hands in candidates while a search goes on, from threads of its own. They are tried before all others."""

    @property
    def working(self) -> bool:
        """Whether any may still come."""
        ...

    def take(self) -> Candidate | None:
        """One that waits."""
        ...

    def wait(self, seconds: float) -> None:
        """Until one waits or none will come any more, at most so long."""
        ...

    def again(self, candidate: Candidate, verdict: Future[Verdict]) -> None:
        """A candidate that was tried before it was handed in; it counts as one alone."""
        ...


class Nobody:
    """An Aside from which nothing comes."""

    working = False

    def take(self) -> Candidate | None:
        return None

    def wait(self, seconds: float) -> None:
        return

    def again(self, candidate: Candidate, verdict: Future[Verdict]) -> None:
        return


@dataclass
class Search:
    """`submit` starts the verification of a candidate's files, `render` makes these files, `slots` is how many
    run at a time; `on_trial` sees every result, `on_start` every candidate as it goes to the tests. `seen` are the
    keys that are not tried (again). What `aside` hands in goes before the stream."""

    stream: Iterator[Candidate]
    submit: Submit
    render: Render
    slots: int = 2
    on_start: Callable[[Candidate], None] = lambda candidate: None
    on_trial: Callable[[Trial], None] = lambda trial: None
    green: list[Trial] = field(default_factory=list)
    tried: int = 0
    seen: set[str] = field(default_factory=set)
    aside: Aside = field(default_factory=Nobody)
    _waiting: deque[Candidate] = field(default_factory=deque)
    _running: dict[Future[Verdict], tuple[int, Candidate, Mapping[str, bytes]]] = field(default_factory=dict)

    def run(self, budget: Budget, whole: Budget, *, aside_alone: bool = False) -> Ended:
        """Searches within `budget` until the first green patch, then for rivals, within `whole`, for a quarter
        of the time used (at least 5, at most 30 s): a green test is not yet a right patch. One that is still alone
        then is given up to twice as long, until another passes; one that leaves tests failing counts for none here.
        With `aside_alone` nothing but what is handed in is tried until then."""
        ended = self._until(budget, lambda: bool(self.green), aside_alone=aside_alone)
        if ended is Ended.GREEN:
            self._nearest_first(self.green[0].candidate)
            used = whole.elapsed
            for (share, least, most), enough in ((_RIVALS, lambda: False), (_ALONE, self._two_pass_all)):
                left = min(most, max(least, share * used)) - (whole.elapsed - used)
                if left > 0 and not enough():
                    self._until(whole.part(Limits(seconds=left)), enough)
        self._drain(whole)
        return Ended.GREEN if self.green else ended

    def hear_out(self, budget: Budget) -> None:
        """Tries what is handed in until no more will come, within `budget`."""
        self._until(budget, lambda: False, aside_alone=True)
        self._drain(budget)

    def check_again(self, candidates: Iterable[Candidate], seconds: float) -> None:
        """Verifies candidates that passed in an earlier run, for so long whatever the budget says: they were paid
        for."""
        until = time.monotonic() + seconds
        for candidate in candidates:
            if candidate.key not in self.seen:
                self.seen.add(candidate.key)
                self._start(candidate)
        while self._running and (left := until - time.monotonic()) > 0:
            self._collect(left)

    def _two_pass_all(self) -> bool:
        return sum(not trial.verdict.left for trial in self.green) > 1

    def _until(self, budget: Budget, enough: Callable[[], bool], *, aside_alone: bool = False) -> Ended:
        """Tries candidates until `enough` have passed."""
        while True:
            while len(self._running) < self.slots and not budget.exhausted:
                candidate = self._handed() or (None if aside_alone else self._next())
                if candidate is None:
                    break
                budget.spend()
                self._start(candidate)
            if not self._running:
                if budget.exhausted:
                    return Ended.LIMIT
                if not self.aside.working:
                    return Ended.EXHAUSTED
                self.aside.wait(min(budget.seconds_left, 3600.0))
                continue
            if budget.seconds_left <= 0:
                return Ended.LIMIT
            room = self.aside.working and len(self._running) < self.slots
            self._collect(min(budget.seconds_left, _GLANCE) if room else budget.seconds_left)
            if enough():
                return Ended.GREEN

    def _handed(self) -> Candidate | None:
        while (candidate := self.aside.take()) is not None:
            if candidate.key not in self.seen:
                self.seen.add(candidate.key)
                return candidate
            self.aside.again(candidate, self.submit(self.render(candidate)))
        return None

    def _next(self) -> Candidate | None:
        for candidate in itertools.chain(iter(self._pop, None), self.stream):
            if candidate.key not in self.seen:
                self.seen.add(candidate.key)
                return candidate
        return None

    def _pop(self) -> Candidate | None:
        return self._waiting.popleft() if self._waiting else None

    def _start(self, candidate: Candidate) -> None:
        files = self.render(candidate)
        self.tried += 1
        self.on_start(candidate)
        self._running[self.submit(files)] = (self.tried, candidate, files)

    def _collect(self, seconds: float) -> None:
        done, _ = wait(self._running, timeout=min(seconds, 3600.0), return_when=FIRST_COMPLETED)
        for future in sorted(done, key=lambda f: self._running[f][0]):
            number, candidate, files = self._running.pop(future)
            trial = Trial(number, candidate, files, future.result())
            if trial.verdict.status is Status.GREEN:
                self.green.append(trial)
            self.on_trial(trial)

    def _nearest_first(self, found: Candidate) -> None:
        """Has the candidates of the same place, the nearest first, take turns with the others: the first green
        patch may be at a wrong place altogether."""
        ahead = [*self._waiting, *itertools.islice(self.stream, _LOOK_AHEAD)]
        near = sorted(
            (c for c in ahead if c.path == found.path),
            key=lambda c: (c.line != found.line, abs(c.line - found.line)),
        )
        turns = itertools.zip_longest(near, ahead)
        order = {id(c): c for turn in turns for c in turn if c is not None}
        self._waiting = deque(order.values())

    def _drain(self, whole: Budget) -> None:
        """Lets what is still running end, for a moment within `whole`: a started trial should not be lost."""
        deadline = time.monotonic() + min(_DRAIN, whole.seconds_left)
        while self._running and (left := deadline - time.monotonic()) > 0:
            self._collect(left)
        for future in self._running:
            future.cancel()
