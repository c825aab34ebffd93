"""The next token from a row of logits: penalties, temperature, cuts, a draw that only the request decides."""

from __future__ import annotations

import math
import struct
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b

import torch
from torch import Tensor

from engine.errors import EngineError, RequestError

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


@dataclass(slots=True)
class Seen:
    """The tokens that penalties look at: how often each stands in the prompt and in the answer."""

    prompt: Counter[int] = field(default_factory=Counter)
    answer: Counter[int] = field(default_factory=Counter)


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


def choose(logits: Tensor, sampling: Sampling, seen: Seen, index: int, allowed: Tensor | None = None) -> int:
    """The answer's token `index`. logits: [V] fp32, left as they are. allowed: [V] bool, the grammar's mask.

    Order: penalties, mask, temperature, min-p, top-k, top-p, each on what the one before left. Of equal logits the
    lowest id wins, in the greedy choice and at every cut. Errors: EngineError where no finite logit is left.
    """
    if sampling.penalised:
        logits = penalise(logits, sampling, seen)
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -math.inf)
    place = int(logits.cpu().numpy().argmax())  # of equal ones the first; torch's own takes ten times as long
    best = logits[place].item()
    if not math.isfinite(best):
        raise EngineError(
            f"no token can follow: the largest logit is {best}; the weights or the grammar are broken"
        )
    if sampling.temperature == 0:
        return place
    ids, chances = kept(logits, sampling, best)
    sums = chances.cumsum(0)
    at = torch.searchsorted(sums, uniform(sampling.seed, index) * sums[-1], right=True)
    return int(ids[min(int(at), len(ids) - 1)])


def penalise(logits: Tensor, sampling: Sampling, seen: Seen) -> Tensor:
    """A copy with the penalties taken off."""
    logits = logits.clone()
    if sampling.repetition != 1.0 and (seen.prompt or seen.answer):
        ids = torch.tensor(list(seen.prompt.keys() | seen.answer.keys()), device=logits.device)
        old = logits[ids]
        logits[ids] = torch.where(old > 0, old / sampling.repetition, old * sampling.repetition)
    if seen.answer and (sampling.presence or sampling.frequency):
        ids = torch.tensor(list(seen.answer), device=logits.device)
        counts = torch.tensor(list(seen.answer.values()), dtype=torch.float32, device=logits.device)
        logits[ids] -= sampling.presence + sampling.frequency * counts
    return logits


def kept(logits: Tensor, sampling: Sampling, best: float) -> tuple[Tensor, Tensor]:
    """What the cuts leave: token ids, ascending, and their unnormalised chances in fp64."""
    scaled = (logits.double() - best) / sampling.temperature
    floor = math.log(sampling.min_p) if sampling.min_p > 0 else -math.inf
    ids = ((scaled >= floor) & (scaled > -math.inf)).nonzero()[:, 0]
    scaled = scaled[ids]
    if 0 < sampling.top_k < len(ids):
        places = _first(scaled, sampling.top_k)
        ids, scaled = ids[places], scaled[places]
    chances = scaled.exp()
    if sampling.top_p < 1:
        places = _nucleus(chances, sampling.top_p)
        ids, chances = ids[places], chances[places]
    return ids, chances


def logprob(logits: Tensor, token: int, count: int) -> Logprob:
    """logits: [V] fp32, the model's own."""
    logs = logits.log_softmax(-1)
    places = _first(logs, min(count, len(logs)), ordered=True).tolist() if count else []
    return Logprob(logs[token].item(), tuple((place, logs[place].item()) for place in places))


def _first(values: Tensor, count: int, ordered: bool = False) -> Tensor:
    """Places of the `count` largest, of equal ones the first: ascending, or largest first if `ordered`."""
    edge = values.topk(count).values[-1]
    places = (values >= edge).nonzero()[:, 0]
    order = values[places].sort(descending=True, stable=True).indices[:count]
    return places[order] if ordered else places[order].sort().values


def _nucleus(chances: Tensor, share: float) -> Tensor:
    """Places of the fewest chances that sum to `share` of all, largest first; ascending. At least one."""
    goal = share * chances.sum()
    count = min(_NUCLEUS, len(chances))
    while True:
        places = _first(chances, count, ordered=True)
        before = chances[places].cumsum(0) - chances[places]
        if count == len(chances) or before[-1] >= goal:
            return places[before < goal].sort().values
        count = min(count * 8, len(chances))


_NUCLEUS = 256
"""Candidates that are sorted at first; the whole vocabulary seldom has to be."""
