"""The likeliest answers under rules: a beam search whose beams are forks of one context, computed a step at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.cache.pages import History, Memory
from engine.errors import CapacityError, EngineError, RequestError
from engine.generate.cuts import Floats, Places, first, ordered
from engine.generate.flat import Run
from engine.generate.words import Rule, Words

MOST_BEAMS = 256


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for. start: the rules before the first token. made: what an answer's text comes to, None for
    nothing: of several that come to the same, the likeliest is given. stop: the token that ends an answer. width:
    beams, and answers at most. most: tokens of an answer, the stop included. power: answers are compared by their
    log-likelihood divided by so many tokens to the power of this; 0 compares the log-likelihoods.
    """

    start: Rule
    made: Callable[[str], str | None]
    stop: int
    width: int
    most: int
    power: float = 0.0

    def check(self, memory: Memory, context: int) -> None:
        """context: tokens. Errors: RequestError for numbers out of their range, CapacityError for what `memory` can't
        hold at best."""
        if not 1 <= self.width <= MOST_BEAMS or self.most < 1 or not 0 <= self.power <= 1:
            raise RequestError(
                f"{self.width} beams, {self.most} tokens, power {self.power}: give 1 to {MOST_BEAMS} beams, at least a"
                " token, and a power between 0 and 1"
            )
        shared = context // memory.page
        pages = shared + self.width * (memory.pages_for(context + self.most) - shared)
        if self.width > memory.slots or pages > memory.pages:
            raise CapacityError(
                f"{self.width} beams need as many slots and {pages} pages of {memory.page}, the caches have"
                f" {memory.slots} and {memory.pages}: give the engine more or ask for fewer beams"
            )

    def value(self, loglik: float, tokens: int) -> float:
        """What answers are compared by."""
        return loglik / tokens**self.power


@dataclass(frozen=True, slots=True)
class Proposal:
    """An answer. tokens: the stop included. loglik: of all its tokens, natural logarithm, by the model alone: rules
    don't raise it. text: without the stop."""

    tokens: tuple[int, ...]
    loglik: float
    text: str


@dataclass(frozen=True, slots=True)
class _Beam:
    """last: the token to be computed next: the context's, then the beam's own last one."""

    history: History
    last: int
    tokens: tuple[int, ...]
    loglik: float
    rule: Rule


@dataclass(frozen=True, slots=True)
class _Step:
    """One more token after a beam."""

    beam: _Beam
    token: int
    loglik: float


class Beams:
    """One search: `steps` runs it a pass at a time, so that others can go in between; then `proposals` are there, the
    best first. The same question gives the same answers."""

    def __init__(self, forward: Callable[[Sequence[Run]], Floats], words: Words, wanted: Wanted) -> None:
        """forward: logits [len(runs), V] of runs of one token each."""
        self._forward, self._words, self._wanted = forward, words, wanted
        self._found: dict[str, Proposal] = {}
        self._allowed: dict[Rule, Places] = {}
        self._held: list[History] = []

    @property
    def proposals(self) -> list[Proposal]:
        wanted = self._wanted
        best = sorted(self._found.values(), key=lambda one: -wanted.value(one.loglik, len(one.tokens)))
        return best[: wanted.width]

    def steps(self, history: History, last: int) -> Iterator[bool]:
        """history: of the context less its last token `last`; given back at the end or by `close`. Yields True after
        each pass, False where there was no memory for one. Errors: EngineError for logits that are no numbers."""
        self._held = [history]
        beams = [_Beam(history, last, (), 0.0, self._wanted.start)]
        for left in range(self._wanted.most, 0, -1):
            for beam in beams:
                yield from _patiently(beam.history)
            steps = self._choose(beams, self._logs(beams), left == 1)
            yield True
            stops = [step for step in steps if step.token == self._wanted.stop]
            for step in stops:
                self._note(step)
            further = [step for step in steps if step.token != self._wanted.stop]
            if not further or self._enough(further[0]):
                break
            grown: list[_Beam] = []
            yield from self._grow(beams, further, grown)
            beams = grown
        self.close()

    def close(self) -> None:
        """Gives all memory back."""
        for history in self._held:
            history.release()
        self._held = []

    def _logs(self, beams: list[_Beam]) -> Floats:
        """[beams, V]: log-likelihoods of each token after each beam."""
        logits = self._forward([Run(beam.history, (beam.last,)) for beam in beams])
        logs = torch.from_numpy(logits).log_softmax(-1).numpy()
        for beam in beams:
            beam.history.advance(1)
        return logs

    def _choose(self, beams: list[_Beam], logs: Floats, final: bool) -> list[_Step]:
        """The best steps, the best first: as many that go on as there may be beams, and the stops that are better than
        the last of these. final: there is no room for more than stops."""
        stop, width = self._wanted.stop, self._wanted.width
        tokens = [self._may_follow(beam.rule) for beam in beams]
        if final:
            tokens = [ids[ids == stop] for ids in tokens]
        values = np.concatenate(
            [logs[row][ids] + beam.loglik for row, (beam, ids) in enumerate(zip(beams, tokens, strict=True))]
        ).astype(np.float32)
        if np.isnan(values).any():
            raise EngineError("no token can follow: logits are no numbers; the weights are broken")
        rows = np.repeat(np.arange(len(beams)), [len(ids) for ids in tokens])
        ids = np.concatenate(tokens)
        # a beam has one stop at most
        best = ordered(values, first(values, min(len(values), width + len(beams))))
        found: list[_Step] = []
        going = 0
        for place in best.tolist():
            row, token = int(rows[place]), int(ids[place])
            if going == width or not math.isfinite(float(values[place])):
                break
            going += token != stop
            found.append(_Step(beams[row], token, beams[row].loglik + float(logs[row, token])))
        return found

    def _may_follow(self, rule: Rule) -> Places:
        known = self._allowed.get(rule)
        if known is None:
            known = self._words.allowed(rule)
            if rule.complete:
                known = np.append(known, self._wanted.stop)
            self._allowed[rule] = known
        return known

    def _note(self, step: _Step) -> None:
        """An answer that has come to its end."""
        tokens = (*step.beam.tokens, step.token)
        text = self._words.text(step.beam.tokens).decode("utf-8", "replace")
        made = self._wanted.made(text)
        if made is None:
            return
        known = self._found.get(made)
        new = Proposal(tokens, step.loglik, text)
        if known is None or self._value(new) > self._value(known):
            self._found[made] = new

    def _value(self, one: Proposal) -> float:
        return self._wanted.value(one.loglik, len(one.tokens))

    def _enough(self, best: _Step) -> bool:
        """Whether nothing that goes on can come to more than what is found."""
        if len(self._found) < self._wanted.width:
            return False
        return self._wanted.value(best.loglik, self._wanted.most) <= self._value(self.proposals[-1])

    def _grow(self, beams: list[_Beam], steps: list[_Step], grown: list[_Beam]) -> Iterator[bool]:
        """Makes the beams of `steps`: a beam's last step takes its history, those before forks of it."""
        left = Counter(id(step.beam) for step in steps)
        for beam in beams:
            if not left[id(beam)]:
                beam.history.release()
        for step in steps:
            history = step.beam.history
            left[id(step.beam)] -= 1
            if left[id(step.beam)]:
                while (forked := _fork(history)) is None:
                    yield False
                history = forked
                self._held.append(history)
            rule = self._words.after(step.beam.rule, step.token)
            assert rule is not None, "a token was allowed that can't follow"
            grown.append(_Beam(history, step.token, (*step.beam.tokens, step.token), step.loglik, rule))
        self._held = [beam.history for beam in grown]


def _fork(history: History) -> History | None:
    """None where memory is short."""
    try:
        return history.fork()
    except CapacityError:
        return None


def _patiently(history: History) -> Iterator[bool]:
    while True:
        try:
            history.reserve(1)
            return
        except CapacityError:
            yield False
