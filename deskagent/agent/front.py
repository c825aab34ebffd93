"""The seam to whoever watches and answers: a terminal, a JSON stream, later the TUI and an editor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from deskagent.providers.base import Delta
from deskagent.repair.types import Candidate, Verdict
from deskagent.session.event import Event


@dataclass(frozen=True)
class Question:
    """Something only a person can decide. `subject` is shown whole (a command, a diff), `key` names what really
    would happen, so that the same answer isn't asked for twice."""

    text: str
    subject: str
    key: str


@dataclass(frozen=True)
class Trying:
    """A candidate goes to the tests; `number` of at most `limit` (None: no limit), `share` of the budget used."""

    candidate: Candidate
    number: int
    share: float


@dataclass(frozen=True)
class Tried:
    """A candidate came back."""

    candidate: Candidate
    verdict: Verdict
    number: int
    share: float


@dataclass(frozen=True)
class Streamed:
    """A piece of the answer `ask` came."""

    ask: str
    delta: Delta


@dataclass(frozen=True)
class Printed:
    """A tool's output as it comes."""

    call: str
    text: str


Passing = Trying | Tried | Streamed | Printed
"""What is shown and not kept: the journal has it in batches, or when it is whole."""


class Front(Protocol):
    """A watcher. `interactive` says whether `ask` can be answered; `show` gets each event, in order."""

    interactive: bool

    def ask(self, question: Question) -> bool: ...

    def show(self, event: Event | Passing) -> None: ...
