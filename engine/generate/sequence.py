"""A request, and what becomes of it: its tokens, its place in the caches, what it has told so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence as Tokens
from dataclasses import dataclass, field
from hashlib import blake2b

from torch import Tensor

from engine.cache.disk import to_bytes
from engine.cache.pages import History
from engine.generate.cuts import Floats
from engine.generate.grammar import Constraint, Grammar
from engine.generate.sample import Logprob, Sampling, Seen, choose, logprob
from engine.generate.speculate import Lookup
from engine.generate.stop import Stops
from engine.generate.text import TextStream, Vocabulary
from engine.generate.thinking import Thinking, ThinkingCap
from engine.vision.picture import Picture


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    max_tokens: None for all that the context and the caches hold. stop_tokens: end the answer; None for the model's
    own. images: (row, picture) or (row, [n, hidden] embeddings): they stand in the prompt from `row` on, where it has a
    placeholder for each of their tokens. marks: places in the prompt
    where its beginning is likely to be used again (the end of the system prompt, of each turn). cached: whether
    the prefix cache may be read and written. speculated: whether drafts may be verified.
    """

    prompt: Tokens[int]
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    stop_tokens: frozenset[int] | None = None
    stops: Stops = field(default_factory=lambda: Stops(()))
    grammar: Grammar | None = None
    thinking: Thinking | None = None
    images: tuple[tuple[int, Tensor | Picture], ...] = ()
    marks: Tokens[int] = ()
    cached: bool = True
    speculated: bool = True


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of the answer. `text` is what can be told now: it may lag behind the tokens."""

    token: int
    text: str
    logprob: Logprob | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. `cached` are those of the prompt that weren't computed again; `accepted` of the `drafted` ones held."""

    prompt: int
    cached: int
    answer: int
    drafted: int
    accepted: int


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of an answer. reason: stop (a stop token, a stop string, the grammar's end), length, cancelled or error.
    text: what was held back till now. stop: the stop string found."""

    reason: str
    usage: Usage
    text: str = ""
    stop: str | None = None
    error: str | None = None


class Sequence:
    """A request on its way. `tokens` are prompt and answer; those after `history.length` are yet to be computed."""

    def __init__(
        self,
        number: int,
        request: Request,
        limit: int,
        stop_tokens: frozenset[int],
        vocabulary: Vocabulary | None,
    ):
        self.number, self.request, self.limit, self.stop_tokens = number, request, limit, stop_tokens
        self.tokens = list(request.prompt)
        self.keys = prompt_keys(request)
        self.history: History | None = None
        self.marks: list[int] = []
        self.cached: int | None = None
        self.drafted = self.accepted = 0
        self.events: deque[Piece | Finish] = deque()
        self.finish: Finish | None = None
        self.pictures = [(row, image) for row, image in request.images if isinstance(image, Picture)]
        self.seen: dict[int, Tensor] = {}
        """Row → embeddings of a picture, while they are needed."""
        self.lookup = Lookup(self.tokens) if request.speculated else None
        self._text = TextStream(vocabulary, request.stops)
        self._seen = Seen(request.prompt) if request.sampling.penalised else Seen()
        self._constraint: Constraint | None = request.grammar.start() if request.grammar else None
        self._cap: ThinkingCap | None = request.thinking.start(request.prompt) if request.thinking else None

    @property
    def answered(self) -> int:
        """Tokens of the answer."""
        return len(self.tokens) - len(self.request.prompt)

    @property
    def pending(self) -> int:
        """Known tokens that are yet to be computed."""
        return len(self.tokens) - (self.history.length if self.history else 0)

    @property
    def images(self) -> tuple[tuple[int, Tensor], ...]:
        """What is embedded by now."""
        given = [(row, image) for row, image in self.request.images if isinstance(image, Tensor)]
        return (*given, *self.seen.items())

    def take(self, logits: Floats) -> int:
        """Chooses the next token from its logits [V] fp32, tells it, and ends the answer where it ends it."""
        sampling = self.request.sampling
        token = self._cap.forced() if self._cap else None
        # While it thinks, a grammar for the answer has no say.
        constraint = None if self._cap and self._cap.thinking else self._constraint
        if token is None:
            allowed = constraint.allowed(len(logits)) if constraint else None
            token = choose(logits, sampling, self._seen, self.answered, allowed)
        told = logprob(logits, token, sampling.logprobs) if sampling.logprobs is not None else None
        self.tokens.append(token)
        self.keys.append(token)
        if sampling.penalised:
            self._seen.add(token)
        if self._cap:
            self._cap.feed(token)
        ended = token in self.stop_tokens
        if constraint and not ended:
            constraint.feed(token)
        self.events.append(Piece(token, "" if ended else self._text.feed(token), told))
        if ended or self._text.found is not None or (constraint is not None and constraint.ended):
            self.end("stop")
        elif self.answered >= self.limit:
            self.end("length")
        return token

    def end(self, reason: str, error: str | None = None) -> None:
        """Tells the end; what comes after the first is nothing."""
        if self.finish is None:
            usage = Usage(
                len(self.request.prompt), self.cached or 0, self.answered, self.drafted, self.accepted
            )
            rest = self._text.rest()
            self.finish = Finish(reason, usage, rest, self._text.found, error)
            self.events.append(self.finish)


def prompt_keys(request: Request) -> list[int]:
    """The prompt as the prefix cache knows it: token ids, and where an image stands numbers below zero that are
    its content's, so that two pictures are never taken for each other."""
    keys = list(request.prompt)
    for row, image in request.images:
        whole = image.digest if isinstance(image, Picture) else to_bytes(image.float())
        digest = int.from_bytes(blake2b(whole, digest_size=7).digest(), "little")
        for place in range(image.tokens if isinstance(image, Picture) else image.shape[0]):
            keys[row + place] = -1 - digest - place
    return keys
