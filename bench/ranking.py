"""Weights of a model's opinion against the priors, fitted on choices; and the figures of orders under them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from deskagent.repair.model.measure.ranks import Judged, by, reciprocals
from deskagent.repair.model.weights import NAMES, Weights

_ROUNDS, _PULL, _ENOUGH = 30, 0.01, 1e-9
FOLDS = 5


def fit(several: Sequence[Judged]) -> Weights:
    """Weights under which the right one is the likeliest of those drawn from the whole stream with it: a conditional
    logit by Newton's method, pulled towards 0. Those that the typed edits don't reach tell nothing of the priors and
    are left out."""
    import numpy as np

    sets = [np.array([one.answer, *one.drawn]) for one in several if one.choice.rank and one.drawn]
    if not sets:
        return Weights()
    scale = np.vstack(sets).std(0)
    scale[scale == 0] = 1.0
    sets = [rows / scale for rows in sets]
    found = np.zeros(len(NAMES))
    for _ in range(_ROUNDS):
        slope, bend = -_PULL * found, _PULL * np.eye(len(found))
        for rows in sets:
            logits = rows @ found
            odds = np.exp(logits - logits.max())
            odds /= odds.sum()
            mean = odds @ rows
            slope += (rows[0] - mean) / len(sets)
            apart = rows - mean
            bend += (apart.T * odds) @ apart / len(sets)
        step = np.linalg.solve(bend, slope)
        found += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        if float(np.abs(step).max()) < _ENOUGH:
            break
    return Weights(*(found / scale).tolist())


def crossed(several: Sequence[Judged], others: Sequence[Judged]) -> list[float]:
    """Reciprocal ranks of both together, each choice by weights that were fitted on `others` and on those of other
    groups of its own set."""
    found: dict[int, float] = {}
    for number in range(FOLDS):
        held = [i for i, one in enumerate(several) if _fold(one) == number]
        if not held:
            continue
        weights = fit([*others, *(one for one in several if _fold(one) != number)])
        found |= zip(held, reciprocals([several[i] for i in held], by(weights)), strict=True)
    return [found[i] for i in range(len(several))]


def _fold(one: Judged) -> int:
    return int(hashlib.sha256((one.choice.group or one.choice.name).encode()).hexdigest(), 16) % FOLDS
