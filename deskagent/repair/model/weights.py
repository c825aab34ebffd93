"""How a model's opinion and the hand-made priors are weighed against each other.

A candidate's odds are exp(prior · value + loglik · log-likelihood + tokens · number of tokens + none · log-likelihood
of leaving the excerpt as it is): a log-linear model, fitted by bench/model.py on cases for tuning alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from deskagent.repair.model.judge import Opinion

FILE = "ranking.json"
"""Beside a checkpoint's weights: those that were fitted for it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """prior is 1 where the scale of the priors stays as it is; the default ones are for a model that nothing was
    fitted for."""

    prior: float = 1.0
    loglik: float = 0.5
    tokens: float = 0.5
    none: float = 0.0

    def said(self, opinion: Opinion, none: Opinion) -> float:
        """What the model adds."""
        return self.loglik * opinion.loglik + self.tokens * opinion.tokens + self.none * none.loglik


NAMES = tuple(field.name for field in fields(Weights))


def read(checkpoint: Path) -> Weights:
    """Those beside a checkpoint; the default ones where there are none, or no readable ones."""
    try:
        found = json.loads((checkpoint / FILE).read_text("utf-8"))
        return Weights(**{name: float(found[name]) for name in NAMES})
    except (OSError, ValueError, TypeError, KeyError):
        return Weights()
