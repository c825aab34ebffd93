"""Two checkpoints side by side: every figure of each on the same cases, and where the second is the worse."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from deskagent.repair.model.judge import Judge, Opinion
from deskagent.repair.model.measure import ranks
from deskagent.repair.model.measure.choices import SIZE
from deskagent.repair.model.measure.ranks import Judged, Row, by, interval, judged, reciprocals
from deskagent.repair.model.measure.suites import Suite
from deskagent.repair.model.weights import Weights


class Reader(Judge, Protocol):
    """A judge that reads texts as well."""

    def likelihood(self, text: str) -> Opinion: ...


@dataclass(frozen=True, slots=True)
class Figure:
    """loss: the less the better, else the more. numbers: by case."""

    suite: str
    name: str
    loss: bool
    numbers: Sequence[float]


@dataclass(frozen=True, slots=True)
class Compared:
    """Means of both. low, high: where 95 % of resamples have the mean of the second less the first."""

    suite: str
    figure: str
    cases: int
    first: float
    second: float
    low: float
    high: float
    worse: bool


def figures(
    suite: Suite, reader: Reader, weights: Weights, say: Callable[[], None] = lambda: None
) -> list[Figure]:
    """weights: that the reader's opinions have against the priors. say: called after each case. Errors: Gone."""
    found: list[Judged] = []
    code: list[float] = []
    for choice in suite.choices:
        found.append(judged(choice, reader))
        code.append(_bits(reader, choice.answer.after))
        say()
    texts: list[float] = []
    for text in suite.texts:
        texts.append(_bits(reader, text))
        say()
    listed = [one for one in found if len(one.choice.options) == SIZE]
    model, both = (reciprocals(listed, score) for score in (ranks.MODEL, by(weights)))
    made = [
        Figure(suite.name, "text, bits a byte", True, texts),
        Figure(suite.name, "code, bits a byte", True, code),
        Figure(suite.name, "right edit, nats a token", True, [_loss(one.answer) for one in found]),
        Figure(suite.name, "model, reciprocal rank", False, model),
        Figure(suite.name, "model, ranked first", False, [float(number == 1) for number in model]),
        Figure(suite.name, "model and priors, reciprocal rank", False, both),
        Figure(suite.name, "model and priors, ranked first", False, [float(number == 1) for number in both]),
    ]
    return [figure for figure in made if figure.numbers]


def compare(first: Sequence[Figure], second: Sequence[Figure], tolerance: float) -> list[Compared]:
    """Of the same suites. tolerance: how much of a loss may be added, and how far a rank's figure may fall, until the
    second counts as worse."""
    return [_compared(one, other, tolerance) for one, other in zip(first, second, strict=True)]


def _compared(one: Figure, other: Figure, tolerance: float) -> Compared:
    a, b = statistics.fmean(one.numbers), statistics.fmean(other.numbers)
    low, high = interval([y - x for x, y in zip(one.numbers, other.numbers, strict=True)])
    fallen = (b - a) / max(abs(a), 1e-9) if one.loss else a - b
    # what is no number is worse than any
    worse = not fallen <= tolerance
    return Compared(one.suite, one.name, len(one.numbers), a, b, low, high, worse)


def _loss(row: Row) -> float:
    return -row[1] / max(1.0, row[2])


def _bits(reader: Reader, text: str) -> float:
    return -reader.likelihood(text).loglik / math.log(2) / max(1, len(text.encode()))
