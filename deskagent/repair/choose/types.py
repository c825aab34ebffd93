"""What choosing takes and gives: the context of green patches, reasons, choices, separations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deskagent.repair.choose.differ import Behaviour
from deskagent.repair.search import Trial
from deskagent.repair.types import Baseline, Suspect


@dataclass(frozen=True)
class Context:
    """What is known besides the patches. `read` gives a project-relative file's unedited bytes; `behaviour` is
    what `differ.watch` found, empty if nobody looked."""

    read: Callable[[str], bytes]
    baseline: Baseline | None = None
    request: str = ""
    suspects: Sequence[Suspect] = ()
    behaviour: Behaviour = field(default_factory=Behaviour)


@dataclass(frozen=True)
class Sign:
    """Something that speaks for (`amount` > 0) or against a patch: a row of `weights.WEIGHTS`, how much of it, and
    the same in words, "" where a person has nothing from it."""

    name: str
    amount: float
    text: str = ""


@dataclass(frozen=True)
class Reason:
    """A sign with its weight, on the scale of natural logarithms of odds."""

    name: str
    weight: float
    text: str


@dataclass(frozen=True)
class Choice:
    """A green patch, how much speaks for it, why, and the number of its cluster: patches of one cluster did the
    same on every input tried. Clusters are numbered from 1 in the order of choices; 0 stands for "not known"."""

    trial: Trial
    score: float
    reasons: tuple[Reason, ...]
    cluster: int = 0


@dataclass(frozen=True)
class Separation:
    """An input on which two patches differ, as text: the call, what it gives with each, and with neither.

    `made_up` says that no test uses this input.
    """

    call: str
    best: str
    rival: str
    unedited: str
    made_up: bool

    @property
    def text(self) -> str:
        """One line for people."""
        return f"{self.call} → {self.best} with this patch, {self.rival} with that one"
