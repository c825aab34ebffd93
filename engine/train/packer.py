"""Examples as tokens, packed one behind the other: the same for the same seed and number, whatever came before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np

from engine.errors import ConfigError
from engine.prompt.encode import encode
from engine.tokenizer import Tokenizer
from engine.train.example import Choice, Example
from engine.train.library import Library
from engine.train.make import Maker

CUT = "lm"
"""The kind that may end anywhere, so that it fills what room others leave."""
_TRIES = 8
"""Documents that are tried for one example."""
_GIVES_UP = 400
"""Examples in a row that could not be made."""
_FEWEST = 32
"""Tokens that are worth a sequence of their own."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """tokens and learn are as long as each other. answers: tokens of what may stand behind them, the one at `right` to
    be learnt."""

    kind: str
    tokens: list[int]
    learn: list[bool]
    answers: list[list[int]] = field(default_factory=list)
    right: int = -1

    @property
    def size(self) -> int:
        return len(self.tokens) + sum(map(len, self.answers))

    def cut(self, most: int) -> Sequence:
        return Sequence(self.kind, self.tokens[:most], self.learn[:most])


@dataclass(frozen=True, slots=True)
class Batch:
    """As `engine.train.rows.Rows`, in numpy: tokens int32, learn bool, starts int64, parents int64.
    following: the number of the example that the next batch begins with."""

    tokens: np.ndarray
    learn: np.ndarray
    starts: np.ndarray
    kinds: tuple[str, ...]
    parents: np.ndarray
    following: int

    @classmethod
    def of(cls, taken: list[Sequence], following: int) -> Batch:
        batch: list[tuple[str, list[int], list[bool], int]] = []
        for one in taken:
            at = len(batch)
            batch.append((one.kind, one.tokens, one.learn, -1))
            for number, answer in enumerate(one.answers):
                batch.append((one.kind, answer, [number == one.right] * len(answer), at))
        return cls(
            np.array([token for _, tokens, _, _ in batch for token in tokens], np.int32),
            np.array([each for _, _, learn, _ in batch for each in learn], bool),
            np.cumsum([0, *(len(tokens) for _, tokens, _, _ in batch)], dtype=np.int64),
            tuple(kind for kind, _, _, _ in batch),
            np.array([parent for _, _, _, parent in batch], np.int64),
            following,
        )


class Packer:
    """makers, weights: by kind; weights are shares of examples. context: the most tokens of a sequence. tokens: of a
    batch, which is full where there is a kind that may be cut. made, long: examples by kind, and those of them that
    were left out because they are longer than a sequence may be."""

    def __init__(
        self,
        library: Library,
        tokenizer: Tokenizer,
        makers: Mapping[str, Maker],
        weights: Mapping[str, float],
        context: int,
        tokens: int,
        seed: str,
    ) -> None:
        self._library, self._tokenizer, self._makers = library, tokenizer, makers
        self._kinds, self._weights = list(weights), list(weights.values())
        self._context, self._tokens, self._seed = min(context, tokens), tokens, seed
        self.made: Counter[str] = Counter()
        self.long: Counter[str] = Counter()

    def batch(self, number: int) -> Batch:
        """Examples from `number` on, as many as have room."""
        taken: list[Sequence] = []
        room = self._tokens
        missing = 0
        while room >= _FEWEST:
            found = self.sequence(number)
            if found is not None and found.size > room and found.kind != CUT:
                break
            number += 1
            missing = missing + 1 if found is None else 0
            if missing > _GIVES_UP:
                raise ConfigError(f"no example of {' or '.join(self._kinds)} can be made of these documents")
            if found is not None:
                taken.append(found.cut(room) if found.kind == CUT else found)
                room -= taken[-1].size
        if room >= _FEWEST and CUT in self._weights_by_kind():
            filler = self._made(CUT, Random(f"{self._seed}/fill/{number}"))
            taken += [filler.cut(room)] if filler is not None else []
        return Batch.of(taken, number)

    def sequence(self, number: int) -> Sequence | None:
        """The example of that number; None where nothing could be made."""
        random = Random(f"{self._seed}/{number}")
        return self._made(random.choices(self._kinds, self._weights)[0], random)

    def left_out(self) -> str:
        """What was left out as too long, in words."""
        told = (f"{kind} {self.long[kind]} of {count}" for kind, count in sorted(self.made.items()))
        return "examples too long for a sequence: " + ", ".join(told)

    def _weights_by_kind(self) -> dict[str, float]:
        return {kind: weight for kind, weight in zip(self._kinds, self._weights, strict=True) if weight > 0}

    def _made(self, kind: str, random: Random) -> Sequence | None:
        for _ in range(_TRIES):
            example = self._makers[kind](self._library.draw(random), random)
            if example is None:
                continue
            found = encoded(kind, example, self._tokenizer)
            if kind == CUT:
                found = found.cut(self._context)
            self.made[kind] += 1
            if len(found.tokens) > self._context or found.size > self._tokens:
                self.long[kind] += 1
            elif _teaches(found):
                return found
        return None


def _teaches(one: Sequence) -> bool:
    return len(one.answers) > 1 or any(one.learn[1:])


def encoded(kind: str, example: Example | Choice, tokenizer: Tokenizer) -> Sequence:
    if isinstance(example, Choice):
        asked = encoded(kind, example.question, tokenizer)
        answers = [encode(answer, tokenizer).tokens for answer in example.answers]
        return Sequence(kind, asked.tokens, asked.learn, answers, example.right)
    tokens: list[int] = []
    learn: list[bool] = []
    for piece in example:
        ids = encode([piece.segment], tokenizer).tokens
        tokens += ids
        learn += [piece.learn] * len(ids)
    return Sequence(kind, tokens, learn)
