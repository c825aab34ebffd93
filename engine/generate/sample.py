"""The next token from a row of logits: penalties, temperature, cuts, a draw that only the request decides."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import EngineError, RequestError
from engine.generate.cuts import Floats, Places, draw, first, kept, ordered

MOST_LOGPROBS = 64


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a request's tokens are drawn. temperature 0 is greedy. top_k 0, top_p 1 and min_p 0 cut nothing.

    `repetition` divides (multiplies, below zero) the logits of tokens seen in prompt or answer (CTRL, arXiv
    1909.05858); `presence` and `frequency` are taken off once, or a time it occurs, for tokens of the answer
    (OpenAI's API). `seed`: the same seed, prompt and settings give the same tokens. `logprobs`: None for none, else
    how many alternatives are told with each token's own.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition: float = 1.0
    presence: float = 0.0
    frequency: float = 0.0
    seed: int = 0
    logprobs: int | None = None

    def __post_init__(self) -> None:
        """Raises RequestError for a number out of its range."""
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise RequestError(f"sampling: {name} is {value}, it has to be between {low} and {high}")
        if self.top_p == 0 or self.repetition == 0:
            raise RequestError("sampling: top_p and repetition have to be above 0")

    @property
    def penalised(self) -> bool:
        return (self.repetition, self.presence, self.frequency) != (1.0, 0.0, 0.0)


_RANGES = (
    ("temperature", 0.0, 100.0),
    ("top_k", 0, 2**31),
    ("top_p", 0.0, 1.0),
    ("min_p", 0.0, 1.0),
    ("repetition", 0.0, 100.0),
    ("presence", -100.0, 100.0),
    ("frequency", -100.0, 100.0),
    ("seed", 0, 2**64 - 1),
    ("logprobs", 0, MOST_LOGPROBS),
)
GREEDY = Sampling(temperature=0.0)


class Seen:
    """The tokens that penalties look at: those of the prompt, and how often each stands in the answer."""

    def __init__(self, prompt: Iterable[int] = ()) -> None:
        ids = dict.fromkeys(prompt)
        self._places = {token: place for place, token in enumerate(ids)}
        self._ids = np.fromiter(ids, np.int64, len(ids))
        self._counts = np.zeros(len(ids), np.float32)

    def add(self, token: int) -> None:
        """One more token of the answer."""
        place = self._places.setdefault(token, len(self._places))
        if place == len(self._ids):
            room = np.zeros(place + 64, np.int64)
            self._ids = np.append(self._ids, room)
            self._counts = np.append(self._counts, room.astype(np.float32))
        self._ids[place] = token
        self._counts[place] += 1

    @property
    def ids(self) -> Places:
        return self._ids[: len(self._places)]

    @property
    def counts(self) -> Floats:
        """Of each of `ids`: how often it stands in the answer."""
        return self._counts[: len(self._places)]


@dataclass(frozen=True, slots=True)
class Logprob:
    """Log-probabilities under the model's own distribution, before any setting: the token's, and the most likely
    tokens with theirs, best first."""

    token: float
    best: tuple[tuple[int, float], ...]


def uniform(seed: int, index: int) -> float:
    """The number in [0, 1) that decides the answer's token `index`: a hash of both, so neither the batch nor the
    number of draws before it matter."""
    digest = blake2b(struct.pack("<QQ", seed, index), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53


def choose(
    logits: Floats, sampling: Sampling, seen: Seen, index: int, allowed: NDArray[np.bool_] | None = None
) -> int:
    """The answer's token `index`. logits: [V] fp32, left as they are. allowed: [V] bool, the grammar's mask.

    Order: penalties, mask, temperature, min-p, top-k, top-p, each on what the one before left. Of equal logits the
    lowest id wins, in the greedy choice and at every cut. Errors: EngineError where no finite logit is left.
    """
    values = penalise(logits, sampling, seen) if sampling.penalised else logits
    ids = None if allowed is None else np.flatnonzero(allowed)
    if ids is not None:
        values = values[ids]
    place = int(values.argmax()) if len(values) else 0
    best = float(values[place]) if len(values) else -math.inf
    if not math.isfinite(best):
        raise EngineError(
            f"no token can follow: the largest logit is {best}; the weights or the grammar are broken"
        )
    if sampling.temperature > 0:
        places, chances = kept(
            values, best, sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p
        )
        place = int(places[draw(chances, uniform(sampling.seed, index))])
    return place if ids is None else int(ids[place])


def penalise(values: Floats, sampling: Sampling, seen: Seen) -> Floats:
    """A copy with the penalties taken off."""
    values = values.copy()
    old, counts = values[seen.ids], seen.counts
    if sampling.repetition != 1.0:
        old = np.where(old > 0, old / sampling.repetition, old * sampling.repetition)
    values[seen.ids] = old - (sampling.presence * np.minimum(counts, 1) + sampling.frequency * counts)
    return values


def logprob(logits: Floats, token: int, count: int) -> Logprob:
    """logits: [V] fp32, the model's own."""
    logs: Floats = torch.from_numpy(logits).log_softmax(-1).numpy()
    places = ordered(logs, first(logs, count)).tolist() if count else []
    return Logprob(float(logs[token]), tuple((place, float(logs[place])) for place in places))
