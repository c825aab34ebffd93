"""What a model is asked, and who answers: the engine's process, or whatever stands in for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from deskagent.errors import DeskagentError
from deskagent.repair.types import Baseline


class Gone(DeskagentError):
    """The model answers no more; the search goes on without it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a bug, and an excerpt of the file that may hold it."""

    path: str
    excerpt: str
    failure: str = ""
    request: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """loglik: log-likelihood of an answer's tokens together, natural logarithm. tokens: their number."""

    loglik: float
    tokens: int


class Judge(Protocol):
    """Says how likely a model would answer so."""

    def warm(self) -> None:
        """Gets ready, without anybody waiting."""
        ...

    def opinions(self, asked: Asked, after: Sequence[str]) -> Sequence[Opinion]:
        """One for each text that the excerpt may become, in their order; the excerpt itself stands for leaving it as
        it is. Errors: Gone."""
        ...


def failure_of(baseline: Baseline | None) -> str:
    """The first failing test's words: of pytest's the asserted lines and the error, of others all."""
    if baseline is None or not baseline.failing:
        return ""
    lines = baseline.failing[0].message.splitlines()
    told = [line for line in lines if line.startswith(("E ", "> "))]
    return "\n".join(dict.fromkeys(" ".join(line.split()) for line in told)) if told else "\n".join(lines)
