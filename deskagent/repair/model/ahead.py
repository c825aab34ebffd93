"""Candidates in the order that priors and a model agree on: asked for ahead of their turn, in a thread of its own.

Until a candidate's opinion is there it counts for as much as the mean of those that are, so it keeps its place by the
priors alone; what the model never comes to is tried in that order too. Nothing waits for the model.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from deskagent.repair.model.excerpt import Excerpt, excerpt_of, shown
from deskagent.repair.model.judge import Asked, Gone, Judge, Opinion
from deskagent.repair.model.weights import Weights
from deskagent.repair.rank import Ranked
from deskagent.repair.types import Candidate

MOST_WAITING, MOST_KEPT = 96, 1500
"""Candidates that the model has yet to be asked about; those that are held back in all."""
AT_ONCE = 16
"""So many candidates are made for one that is taken: making them takes time from the search."""
BATCH = 32
"""Candidates a question, so that the first answers come soon."""
MOST_LETTERS = 6000
"""Of an excerpt; one with longer lines is data, and nothing is asked about it."""


@dataclass(slots=True, eq=False)
class _Held:
    """A candidate. order: its place by the priors. said: what the model adds. taken: whether it was handed out, so that
    the model needn't be asked any more."""

    order: int
    value: float
    candidate: Candidate
    said: float | None = None
    taken: bool = False


@dataclass
class Ahead:
    """An iterator over candidates. `failure` and `request` are told to the model. `why` says why the model was given
    up, "" while it answers. `close` ends the asking."""

    stream: Iterator[Ranked]
    judge: Judge
    weights: Weights
    failure: str = ""
    request: str = ""
    why: str = ""
    asked: int = 0
    """Opinions that came in."""
    _held: list[_Held] = field(default_factory=list)
    _open: set[int] = field(default_factory=set)
    _sum: float = 0.0
    _unsaid: bool = True

    def __post_init__(self) -> None:
        self._order = itertools.count()
        self._excerpts: dict[tuple[str, int], Excerpt] = {}
        self._questions: queue.SimpleQueue[tuple[_Held, Excerpt] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[_Held, float | None] | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="model", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Candidate]:
        return self

    def __next__(self) -> Candidate:
        self._take_answers()
        self._make()
        if not self._held:
            raise StopIteration
        best = max(self._held, key=self._odds)
        self._held.remove(best)
        best.taken = True
        self._open.discard(best.order)
        return best.candidate

    def best(self, count: int) -> list[Candidate]:
        """The best of all there are, once the model has been asked about each. For measuring: a search never waits."""
        while True:
            before = len(self._held)
            self._make()
            if len(self._held) == before:
                break
            self.settle()
        return [held.candidate for held in sorted(self._held, key=self._odds, reverse=True)[:count]]

    def _odds(self, held: _Held) -> tuple[float, int]:
        usual = self._sum / self.asked if self.asked else 0.0
        said = usual if held.said is None else held.said
        return self.weights.prior * held.value + said, -held.order

    def close(self) -> None:
        """Ends the asking; what is under way is left to end by itself."""
        self._closed.set()
        self._questions.put(None)

    def given_up(self) -> str:
        """Why the model was given up, said once; "" where it answers."""
        if not self.why or not self._unsaid:
            return ""
        self._unsaid = False
        return self.why

    def settle(self) -> None:
        """Waits until every question that was put is answered. For measuring: a search never waits."""
        while self._open and not self.why and (answer := self._answers.get()) is not None:
            self._note(*answer)

    def _make(self) -> None:
        """At least one candidate to choose from, and more where the model could use them."""
        for ranked in itertools.islice(self.stream, AT_ONCE):
            held = _Held(next(self._order), ranked.value, ranked.candidate)
            self._held.append(held)
            if not self.why:
                self._open.add(held.order)
                self._questions.put((held, self._excerpt(ranked)))
            if len(self._open) >= MOST_WAITING or len(self._held) >= MOST_KEPT or self.why:
                break

    def _excerpt(self, ranked: Ranked) -> Excerpt:
        place = ranked.candidate.path, ranked.candidate.line
        if place not in self._excerpts:
            self._excerpts[place] = excerpt_of(ranked.syntax, ranked.candidate.line)
        return self._excerpts[place]

    def _take_answers(self) -> None:
        while True:
            try:
                answer = self._answers.get_nowait()
            except queue.Empty:
                return
            if answer is not None:
                self._note(*answer)

    def _note(self, held: _Held, said: float | None) -> None:
        self._open.discard(held.order)
        if said is not None:
            held.said = said
            self._sum += said
            self.asked += 1

    def _ask(self) -> None:
        """The thread. Whatever goes wrong in it, the search goes on without the model, and says why."""
        try:
            self._ask_all()
        except Gone as error:
            self.why = error.message
        except Exception as error:
            self.why = f"The model can't be asked: {type(error).__name__}: {error}"
        self._answers.put(None)  # wakes who waits

    def _ask_all(self) -> None:
        """What is waiting, the first come first, by excerpts; not what was handed out meanwhile."""
        none: dict[Excerpt, Opinion] = {}
        while (first := self._questions.get()) is not None:
            waiting = [first]
            while len(waiting) < BATCH:
                try:
                    more = self._questions.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    return
                waiting.append(more)
            by_excerpt: dict[Excerpt, list[_Held]] = defaultdict(list)
            for held, excerpt in waiting:
                by_excerpt[excerpt].append(held)
            for excerpt, group in by_excerpt.items():
                if self._closed.is_set():
                    return
                if left := [held for held in group if not held.taken]:
                    self._ask_one(excerpt, left, none)

    def _ask_one(self, excerpt: Excerpt, group: list[_Held], none: dict[Excerpt, Opinion]) -> None:
        before = shown(excerpt.text)
        fits = len(before) <= MOST_LETTERS
        told = [(held, excerpt.edited(held.candidate.edits) if fits else None) for held in group]
        after = [(held, shown(text)) for held, text in told if text is not None]
        asked = Asked(excerpt.path, before, self.failure, self.request)
        first = [] if excerpt in none else [before]
        opinions = list(self.judge.opinions(asked, [*first, *(text for _, text in after)])) if after else []
        if opinions and first:
            none[excerpt] = opinions.pop(0)
        for held, text in told:
            if text is None:
                self._answers.put((held, None))
        for (held, _), opinion in zip(after, opinions, strict=True):
            self._answers.put((held, self.weights.said(opinion, none[excerpt])))
