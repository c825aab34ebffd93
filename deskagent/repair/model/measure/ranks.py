"""Orders of choices and how good they are: priors alone, a model alone, both by weights."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deskagent.repair.model.judge import Asked, Judge, Opinion
from deskagent.repair.model.measure.choices import Choice, Option
from deskagent.repair.model.weights import NAMES, Weights

Row = tuple[float, float, float, float]
"""An option's numbers, in the order of `NAMES`."""
_RESAMPLED = 1000


@dataclass(frozen=True)
class Judged:
    """A choice with the numbers of its options and of those drawn."""

    choice: Choice
    rows: Sequence[Row]
    drawn: Sequence[Row] = ()

    @property
    def answer(self) -> Row:
        return self.rows[self.choice.right]


def judged(choice: Choice, judge: Judge) -> Judged:
    """An edit that the priors don't reach counts for less than all the others. Errors: Gone."""
    every = [*choice.options, *choice.drawn]
    told = list(dict.fromkeys((each.path, each.excerpt, each.after) for each in every))
    opinions: dict[tuple[str, str, str], tuple[Opinion, Opinion]] = {}
    for path, excerpt in dict.fromkeys((path, excerpt) for path, excerpt, _ in told):
        group = [one for one in told if one[:2] == (path, excerpt)]
        asked = Asked(path, excerpt, choice.failure, choice.request)
        none, *said = judge.opinions(asked, [excerpt, *(after for *_, after in group)])
        opinions |= {one: (opinion, none) for one, opinion in zip(group, said, strict=True)}
    least = min((each.value for each in every if each.value is not None), default=0.0)

    def row(each: Option) -> Row:
        opinion, none = opinions[each.path, each.excerpt, each.after]
        value = least - 1e-6 if each.value is None else each.value
        return value, opinion.loglik, float(opinion.tokens), none.loglik

    return Judged(choice, list(map(row, choice.options)), list(map(row, choice.drawn)))


def place(scores: Sequence[float], right: int) -> float:
    """The rank of the right one; among equals it stands in the middle."""
    above = sum(score > scores[right] for score in scores)
    beside = sum(score == scores[right] for score in scores) - 1
    return 1 + above + beside / 2


def by(weights: Weights) -> Callable[[Row], float]:
    told = [getattr(weights, name) for name in NAMES]
    return lambda row: sum(weight * number for weight, number in zip(told, row, strict=True))


PRIORS = by(Weights(1.0, 0.0, 0.0, 0.0))
MODEL = by(Weights(0.0, 1.0, 0.0, 0.0))


def reciprocals(several: Sequence[Judged], score: Callable[[Row], float]) -> list[float]:
    """The reciprocal rank of each."""
    return [1 / place([score(row) for row in one.rows], one.choice.right) for one in several]


def interval(numbers: Sequence[float]) -> tuple[float, float]:
    """Where the mean lies with 95 % by resampling; twice the mean of one number alone."""
    rng = random.Random(0)
    means = sorted(statistics.fmean(rng.choices(numbers, k=len(numbers))) for _ in range(_RESAMPLED))
    return means[int(0.025 * _RESAMPLED)], means[int(0.975 * _RESAMPLED) - 1]
