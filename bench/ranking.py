"""Orders of choices and how good they are: priors alone, a model alone, both by fitted weights."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from choices import Choice

from deskagent.repair.model.weights import NAMES, Weights

Row = tuple[float, float, float, float]
"""An option's numbers, in the order of `NAMES`."""
_ROUNDS, _STEP, _PULL = 400, 0.5, 0.01
FOLDS = 5


@dataclass(frozen=True)
class Judged:
    """A choice with the numbers of its options."""

    choice: Choice
    rows: Sequence[Row]


def place(scores: Sequence[float], right: int) -> float:
    """The rank of the right one; among equals it stands in the middle."""
    above = sum(score > scores[right] for score in scores)
    beside = sum(score == scores[right] for score in scores) - 1
    return 1 + above + beside / 2


def reciprocal(judged: Sequence[Judged], score: Callable[[Judged, Row], float]) -> float:
    """The mean reciprocal rank."""
    ranks = [place([score(one, row) for row in one.rows], one.choice.right) for one in judged]
    return statistics.fmean(1 / rank for rank in ranks) if ranks else math.nan


def by(weights: Weights) -> Callable[[Judged, Row], float]:
    told = [getattr(weights, name) for name in NAMES]
    return lambda _, row: sum(weight * number for weight, number in zip(told, row, strict=True))


PRIORS = by(Weights(1.0, 0.0, 0.0, 0.0))
MODEL = by(Weights(0.0, 1.0, 0.0, 0.0))


def fit(judged: Sequence[Judged]) -> Weights:
    """Weights under which the right options are likeliest: a conditional logit by gradient ascent, pulled towards 0."""
    scale = [_spread([row[i] for one in judged for row in one.rows]) for i in range(len(NAMES))]
    rows = [[[x / s for x, s in zip(row, scale, strict=True)] for row in one.rows] for one in judged]
    found = [0.0] * len(NAMES)
    for _ in range(_ROUNDS):
        slope = [-_PULL * weight for weight in found]
        for one, options in zip(judged, rows, strict=True):
            logits = [sum(w * x for w, x in zip(found, row, strict=True)) for row in options]
            most = max(logits)
            odds = [math.exp(logit - most) for logit in logits]
            whole = sum(odds)
            for i in range(len(found)):
                mean = sum(odd * row[i] for odd, row in zip(odds, options, strict=True)) / whole
                slope[i] += (options[one.choice.right][i] - mean) / len(judged)
        found = [weight + _STEP * part for weight, part in zip(found, slope, strict=True)]
    return Weights(*(weight / s for weight, s in zip(found, scale, strict=True)))


def crossed(judged: Sequence[Judged]) -> float:
    """The mean reciprocal rank of both together, each choice by weights that were fitted on others."""
    folds = [[one for one in judged if _fold(one) == number] for number in range(FOLDS)]
    found = [
        (reciprocal(held, by(fit([one for one in judged if _fold(one) != number]))), len(held))
        for number, held in enumerate(folds)
        if held and len(held) < len(judged)
    ]
    return sum(mean * count for mean, count in found) / max(1, sum(count for _, count in found))


def _fold(one: Judged) -> int:
    return int(hashlib.sha256(one.choice.name.encode()).hexdigest(), 16) % FOLDS


def _spread(numbers: Sequence[float]) -> float:
    return (statistics.pstdev(numbers) if len(numbers) > 1 else 0.0) or 1.0
