"""The engine: generate, score and embed over token ids and pictures, for any number of threads at once."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.cache.disk import Folder
from engine.cache.fingerprint import fingerprint
from engine.cache.pages import History, Memory
from engine.cache.pools import PAGE, Pools
from engine.cache.prefix import PrefixCache
from engine.errors import CancelledError, CapacityError, EngineError, RequestError
from engine.generate.admit import check_tokens
from engine.generate.beam import Beams, Proposal, Wanted
from engine.generate.embed import Embedding
from engine.generate.flat import Run, flat
from engine.generate.grammar import Grammar, Grammars
from engine.generate.scheduler import Scheduler
from engine.generate.score import Score, Scoring
from engine.generate.sequence import Finish, Piece, Request, Usage
from engine.generate.sequence import Sequence as Answering
from engine.generate.text import Vocabulary
from engine.generate.words import Words
from engine.model import TEXT_ALONE, Model
from engine.prompt.hunks import Hunks
from engine.vision.picture import Picture, read

__all__ = [
    "Answer",
    "Caches",
    "Engine",
    "Finish",
    "Picture",
    "Piece",
    "Proposal",
    "Request",
    "Score",
    "Usage",
]

_BREATH = 0.002
"""Seconds between looks at memory that others hold."""


@dataclass(frozen=True, slots=True)
class Caches:
    """How much the engine may remember. pages: of `page` tokens each, for all sequences together and for beginnings
    kept in the pools. slots: sequences that compute at once. ram: bytes of kept states and pages in main memory, 0 for
    no prefix cache. folder, disk: where beginnings outlive the process, and bytes there, 0 for none."""

    pages: int
    slots: int = 8
    page: int = PAGE
    ram: int = 1 << 30
    folder: Path | None = None
    disk: int = 0


class Engine:
    """One model with its caches. Whoever waits for an answer drives the steps; requests of several threads share them.

    budget: tokens a step. identity: what else than shape and weights tells this model from others, for files of the
    prefix cache.
    """

    def __init__(
        self,
        model: Model,
        caches: Caches,
        vocabulary: Vocabulary | None = None,
        *,
        budget: int = 512,
        identity: str = "",
    ) -> None:
        """Raises CapacityError for caches without a page or slot, OSError for a folder that can't be made."""
        if caches.pages < 1 or caches.slots < 1 or caches.page < 1:
            raise CapacityError(
                f"caches of {caches.pages} pages and {caches.slots} slots: at least one of each"
            )
        device = model.weights.norm.device
        pools = Pools.allocate(model.config, caches.pages, caches.slots, model.dtype, device, caches.page)
        self.model, self.vocabulary = model, vocabulary
        self.memory = Memory(pools, caches.pages, caches.slots)
        self.prefix: PrefixCache | None = None
        if caches.ram > 0:
            folder = None
            if caches.folder is not None and caches.disk > 0:
                folder = Folder(caches.folder, fingerprint(model, pools, identity))
            self.prefix = PrefixCache(self.memory, caches.ram, folder, caches.disk)
        self.scheduler = Scheduler(model, self.memory, self.prefix, vocabulary, budget)
        self._lock = threading.Lock()
        self._whole = threading.Lock()
        """Held by a score or embed: two that each hold half of the memory would wait for ever."""
        self._grammars: Grammars | None = None
        self._words: Words | None = None
        self._left: deque[Answering] = deque()

    def generate(self, request: Request) -> Answer:
        """An answer that computes while it is read. Errors: RequestError, CapacityError, before anything runs."""
        with self._lock:
            return Answer(self, self.scheduler.add(request))

    def picture(self, data: bytes) -> Picture:
        """A file's picture, for `Request.images`: PNG, JPEG, WebP, GIF or BMP. Errors: RequestError for what is none,
        too large, damaged or moving, and for a model of text."""
        if self.model.config.vision is None:
            raise RequestError(TEXT_ALONE)
        return read(data, self.model.config.vision)

    def score(
        self,
        context: Sequence[int],
        continuations: Sequence[Sequence[int]],
        *,
        cached: bool = True,
        cancelled: threading.Event | None = None,
    ) -> list[Score]:
        """Log-likelihoods of `continuations` after `context`, each as if scored by itself. An empty one has no tokens
        and a total of 0. cancelled: set it to end the work. Errors: RequestError, CapacityError, CancelledError."""
        check_tokens(context, self.model.config, "context")
        for number, one in enumerate(continuations):
            if len(one):
                check_tokens(one, self.model.config, f"continuation {number}")
        longest = max((len(one) for one in continuations), default=0)
        self._check_room(len(context) + longest)
        with self._whole:
            history = self._computed(context[:-1], cached, cancelled)
            scoring = Scoring(self.model, self.memory, history, continuations, self.scheduler.budget)
            self._drive(scoring.steps(context[-1]), scoring.close, cancelled)
        return scoring.scores

    def propose(
        self,
        context: Sequence[int],
        excerpt: str,
        stop: int,
        *,
        width: int = 8,
        most: int = 48,
        power: float = 0.0,
        cached: bool = True,
        cancelled: threading.Event | None = None,
    ) -> list[Proposal]:
        """The likeliest edits of `excerpt` as answers after `context`, by a beam search, the best first; each comes to
        another text than the others and `excerpt`. stop: the token that ends an answer. width: beams, and edits, at
        most: there are no more than slots. most, power: see `Wanted`. Errors: as `score`."""
        config = self.model.config
        check_tokens(context, config, "context")
        check_tokens([stop], config, "stop")
        self._check_room(len(context) + most - 1)
        rules = Hunks.of(excerpt)
        wanted = Wanted(rules.start(), rules.made, stop, min(width, self.memory.slots), most, power)
        wanted.check(self.memory, len(context))
        with self._whole:
            if self._words is None:
                if self.vocabulary is None:
                    raise RequestError("edits are proposed as text: the checkpoint needs a tokenizer")
                self._words = Words(self.vocabulary, config.vocab)
            history = self._computed(context[:-1], cached, cancelled)
            beams = Beams(self.scheduler.logits, self._words, wanted)
            self._drive(beams.steps(history, context[-1]), beams.close, cancelled)
        return beams.proposals

    def embed(self, texts: Sequence[Sequence[int]], *, cancelled: threading.Event | None = None) -> Tensor:
        """[len(texts), hidden] fp32, each of length one. cancelled: set it to end the work. Errors: as `score`."""
        for number, text in enumerate(texts):
            check_tokens(text, self.model.config, f"text {number}")
            self._check_room(len(text))
        with self._whole:
            embedding = Embedding(self.model, self.memory, texts, self.scheduler.budget)
            self._drive(embedding.steps(), embedding.close, cancelled)
        return embedding.vectors

    def grammar(self, kind: str, source: str | dict[str, Any]) -> Grammar:
        """A grammar for `Request.grammar`: see `Grammars.compile`. Errors: RequestError."""
        if self._grammars is None:
            if self.vocabulary is None or not self.model.config.eos:
                raise RequestError("grammars need a tokenizer, and a token that ends an answer")
            self._grammars = Grammars(self.vocabulary, self.model.config.vocab, self.model.config.eos[0])
        return self._grammars.compile(kind, source)

    def close(self) -> None:
        """Ends all requests and writes the prefix cache to its folder."""
        with self._lock:
            for sequence in (*self.scheduler.running, *self.scheduler.waiting):
                self.scheduler.cancel(sequence)
            if self.prefix is not None:
                self.prefix.flush()

    def _event(self, sequence: Answering) -> Piece | Finish | None:
        """What the sequence tells next, computed if need be; None after its end."""
        while True:
            if sequence.events:  # without the lock: a score may hold it for most of the time
                return sequence.events.popleft()
            with self._lock:
                if sequence.events:
                    continue
                if sequence.finish is not None:
                    return None
                moved = self._step()
            if not moved:
                time.sleep(_BREATH)

    def _step(self) -> bool:
        while self._left:
            self.scheduler.cancel(self._left.popleft())
        return self.scheduler.step()

    def _computed(self, tokens: Sequence[int], cached: bool, cancelled: threading.Event | None) -> History:
        """A history of `tokens`, out of the prefix cache as far as it goes, and kept there."""
        keys = list(tokens)
        prefix = self.prefix if cached else None
        made: list[History] = []

        def steps() -> Iterator[bool]:
            while not self.memory.free_slots:
                yield False
            history = prefix.find(keys, len(keys))[0] if prefix is not None else History(self.memory)
            made.append(history)
            while history.length < len(keys):
                part = keys[history.length : history.length + self.scheduler.budget]
                try:
                    history.reserve(len(part))
                except CapacityError:
                    yield False
                    continue
                batch = flat([Run(history, part, wanted=len(part) - 1)], self.model.weights.norm.device)
                self.model.forward(batch, self.memory.pools)
                history.advance(len(part))
                yield True
            if prefix is not None:
                prefix.store(keys, history)

        def close() -> None:
            if made:
                made.pop().release()

        self._drive(steps(), close, cancelled, keep=True)
        return made[0]

    def _drive(
        self,
        steps: Iterator[bool],
        close: Callable[[], None],
        cancelled: threading.Event | None,
        keep: bool = False,
    ) -> None:
        """Runs steps, and a step of the running answers after each. Where memory is short those go on alone; if there
        are none it is CapacityError."""
        done = False
        try:
            while not done:
                if cancelled is not None and cancelled.is_set():
                    raise CancelledError("the request was cancelled")
                with self._lock, torch.inference_mode():
                    moved = next(steps, None)
                    done = moved is None
                    stepped = not self.scheduler.idle and self._step()
                    if moved is False and not stepped and not self.scheduler.running:
                        raise CapacityError(
                            f"{self.memory.free_pages} of {self.memory.pages} pages and {self.memory.free_slots} of"
                            f" {self.memory.slots} slots are free, and no running request will give more back"
                        )
        finally:
            if not (done and keep):
                with self._lock:
                    close()

    def _check_room(self, tokens: int) -> None:
        context, pages = self.model.config.context, self.memory.pages
        if tokens > context:
            raise RequestError(f"{tokens} tokens are more than the context of {context}: shorten the text")
        needed = self.memory.pages_for(tokens) + 1
        if needed > pages:
            raise CapacityError(
                f"{tokens} tokens need {needed} pages of {self.memory.page}, the caches have {pages}: give the engine"
                " more cache memory or shorten the text"
            )


class Answer:
    """Iterates over pieces, then one Finish. Leaving it unread, or `cancel`, ends the request."""

    def __init__(self, engine: Engine, sequence: Answering) -> None:
        self._engine, self._sequence = engine, sequence

    def __iter__(self) -> Iterator[Piece | Finish]:
        return self

    def __next__(self) -> Piece | Finish:
        """Errors: EngineError after a Finish with reason error was read as such."""
        event = self._engine._event(self._sequence)
        if event is None:
            raise StopIteration
        return event

    def cancel(self) -> None:
        """Ends the request now; pieces that were computed, and the Finish, can still be read."""
        with self._engine._lock:
            self._engine.scheduler.cancel(self._sequence)

    def read(self) -> tuple[list[int], str, Finish]:
        """All that is left: token ids, text, the end. Errors: EngineError where the engine broke down."""
        tokens: list[int] = []
        text = ""
        for event in self:
            text += event.text
            if isinstance(event, Finish):
                if event.error is not None:
                    raise EngineError(event.error)
                return tokens, text, event
            tokens.append(event.token)
        raise EngineError("the answer has been read to its end already")

    def __del__(self) -> None:
        # Whoever collects garbage may hold the lock: the next step cancels.
        if self._sequence.finish is None:
            self._engine._left.append(self._sequence)
