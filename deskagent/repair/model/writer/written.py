"""A model's own edits, asked for in a thread as the search comes to new places, and dealt out among the others.

Each excerpt is asked about once for a width of the search's effort; with more effort it is asked again, wider. Nothing
waits for the model, but at the end, for a moment: what it hasn't written yet takes no turn.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from deskagent.repair.languages.code import CodeFile
from deskagent.repair.languages.tree import Tree
from deskagent.repair.model.ahead import MOST_LETTERS
from deskagent.repair.model.excerpt import Excerpt, excerpt_of, shown
from deskagent.repair.model.judge import Asked, Gone, Opinion
from deskagent.repair.model.weights import Weights
from deskagent.repair.model.writer.answer import Answer, Writer
from deskagent.repair.model.writer.edit import PRIOR, Editor
from deskagent.repair.model.writer.names import Names
from deskagent.repair.rank import Ranked
from deskagent.repair.syntax import Syntax
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Candidate

EVERY = 4
"""Of so many candidates one is the model's own, as long as it has any."""
WIDTHS = (8, 24, 40)
"""Edits of an excerpt that are asked for, by effort."""
MOST_EXCERPTS = 40
_UNASKED = Opinion(0.0, 0)
"""Of leaving an excerpt as it is: the writer isn't asked, and it would count for all edits of a place alike."""


@dataclass(slots=True)
class _Place:
    """An excerpt and what is known of it. value: of the best typed edit there. width: asked with."""

    excerpt: Excerpt
    syntax: Syntax
    value: float
    width: int = 0


@dataclass
class Written:
    """Where a model's edits come from. `failure` and `request` are told to it. `why` says why it was given up, ""
    while it answers. `close` ends the asking."""

    writer: Writer
    weights: Weights
    failure: str = ""
    request: str = ""
    why: str = ""
    written: int = 0
    """Candidates that came of it."""
    effort: int = 0
    patience: float = 5.0
    """Seconds that are waited in all once there is nothing else to try."""
    _places: dict[Excerpt, _Place] = field(default_factory=dict)
    _lines: set[tuple[str, int]] = field(default_factory=set)
    _editors: dict[str, Editor] = field(default_factory=dict)
    _waiting: list[tuple[float, int, Candidate]] = field(default_factory=list)
    _given: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._order = itertools.count()
        self._change = threading.Condition()
        self._closed = False
        self._busy = False
        self._thread = threading.Thread(target=self._ask, name="writer", daemon=True)
        self._thread.start()

    def watch(self, stream: Iterator[Ranked]) -> Iterator[Ranked]:
        """The stream as it is; its places are those that the model is asked about, in their order."""
        for ranked in stream:
            self._see(ranked)
            yield ranked

    def among(self, others: Iterator[Candidate]) -> Iterator[Candidate]:
        """Every fourth is the model's own, where there is one that didn't come before."""
        since = 1
        for other in others:
            own = self._take() if since >= EVERY else None
            if own is not None:
                yield own
                since = 1
            if other.key not in self._given:
                self._given.add(other.key)
                yield other
                since += 1
        yield from self._rest()

    def more(self, effort: int) -> None:
        """effort: which of WIDTHS; less than before changes nothing."""
        with self._change:
            self.effort = max(self.effort, min(effort, len(WIDTHS) - 1))
            self._change.notify_all()

    def settle(self) -> None:
        """Waits until every place that was seen is asked about. For measuring: a search never waits."""
        with self._change:
            self._change.wait_for(self._done)

    def best(self, count: int) -> list[Candidate]:
        """The best of what is there now."""
        with self._change:
            return [candidate for *_, candidate in sorted(self._waiting)[:count]]

    def close(self) -> None:
        """Ends the asking; what is under way is left to end by itself."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def _see(self, ranked: Ranked) -> None:
        line = ranked.candidate.path, ranked.candidate.line
        if line in self._lines or len(self._places) >= MOST_EXCERPTS:
            return
        self._lines.add(line)
        excerpt = excerpt_of(ranked.syntax, ranked.candidate.line)
        if excerpt in self._places or len(excerpt.text) > MOST_LETTERS or not shown(excerpt.text):
            return
        with self._change:
            self._places[excerpt] = _Place(excerpt, ranked.syntax, ranked.value)
            self._change.notify_all()

    def _take(self) -> Candidate | None:
        with self._change:
            while self._waiting:
                best = min(self._waiting)
                self._waiting.remove(best)
                if best[2].key not in self._given:
                    self._given.add(best[2].key)
                    return best[2]
        return None

    def _rest(self) -> Iterator[Candidate]:
        """What is left and, as there is nothing else to try any more, what comes soon."""
        self.more(len(WIDTHS) - 1)
        until = time.monotonic() + self.patience
        while True:
            own = self._take()
            if own is not None:
                yield own
                continue
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._done(), until - time.monotonic())
                if not self._waiting:
                    return

    def _done(self) -> bool:
        return self._closed or bool(self.why) or not (self._busy or self._next())

    def _next(self) -> _Place | None:
        width = WIDTHS[self.effort]
        return next((place for place in self._places.values() if place.width < width), None)

    def _ask(self) -> None:
        """The thread. Whatever goes wrong in it, the search goes on without the model, and says why."""
        try:
            while (place := self._wait()) is not None:
                self._ask_one(place)
        except Gone as error:
            self.why = error.message
        except Exception as error:
            self.why = f"The model can't be asked: {type(error).__name__}: {error}"
        with self._change:
            self._busy = False
            self._change.notify_all()

    def _wait(self) -> _Place | None:
        with self._change:
            self._busy = False
            self._change.notify_all()
            self._change.wait_for(lambda: self._closed or self._next() is not None)
            if self._closed:
                return None
            self._busy = True
            place = self._next()
            assert place is not None
            place.width = WIDTHS[self.effort]
            return place

    def _ask_one(self, place: _Place) -> None:
        asked = Asked(place.excerpt.path, shown(place.excerpt.text), self.failure, self.request)
        for answer in self.writer.proposals(asked, place.width):
            if self._closed:
                return
            candidate = self._editor(place.syntax).candidate(place.excerpt, answer.after)
            if candidate is None:
                continue
            with self._change:
                self.written += 1
                self._waiting.append((-self._odds(place, answer), next(self._order), candidate))
                self._change.notify_all()

    def _odds(self, place: _Place, answer: Answer) -> float:
        """As candidates of a search are weighed, but among edits of the model alone, which all have one prior."""
        said = self.weights.said(answer.opinion, _UNASKED)
        return self.weights.prior * (place.value + math.log(PRIOR)) + said

    def _editor(self, syntax: Syntax) -> Editor:
        path = syntax.source.path
        if path not in self._editors:
            python = not isinstance(syntax, Tree)
            others = [each.syntax for each in self._editors.values()]
            for each in self._editors.values():
                if each.names is not None:
                    each.names.add(syntax)
            stream = CodeFile(syntax).stream if isinstance(syntax, Tree) else TokenStream(syntax.source)
            self._editors[path] = Editor(syntax, stream, Names(syntax, others) if python else None)
        return self._editors[path]
