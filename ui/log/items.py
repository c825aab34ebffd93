"""What a transcript is made of. Every text in an item is inert: whatever could steer a terminal is made visible."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from deskagent.messages import Outcome


@dataclass(frozen=True, slots=True)
class Item:
    """key: names it in the session. turn: id of the turn that it belongs to, "" for none.
    of_conversation: somebody says something in it."""

    of_conversation: ClassVar[bool] = False
    key: str
    turn: str = ""


@dataclass(frozen=True, slots=True)
class Said(Item):
    """What the person said. beside: names of the files and pictures that went with it."""

    of_conversation = True
    text: str = ""
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aside(Item):
    """What deskagent told the model by itself, or a summary that stands for earlier turns."""

    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Thought(Item):
    """tokens: of the answer's thinking, 0 while nobody said."""

    text: str = ""
    tier: str = ""
    tokens: int = 0
    live: bool = False


@dataclass(frozen=True, slots=True)
class Words(Item):
    """Markdown that the model wrote."""

    of_conversation = True
    text: str = ""
    live: bool = False


class State(StrEnum):
    """Where a call stands beside the outcomes that it may have: being written, waiting, running."""

    WRITTEN = "written"
    WAITING = "waiting"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Work(Item):
    """A call of a tool. about: its main argument. subject: what was permitted, a diff or a command. diff: whether it is
    one. printed: the end of its output as it comes. result: what the model was told. inner: what its subagent did."""

    name: str = ""
    about: str = ""
    state: State | Outcome = State.WRITTEN
    subject: str = ""
    diff: bool = False
    permitted: str = ""
    printed: str = ""
    result: str = ""
    seconds: float = 0.0
    inner: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        return isinstance(self.state, Outcome)


@dataclass(frozen=True, slots=True)
class Notice(Item):
    """level: `info`, `warning` or `error`."""

    level: str = "info"
    text: str = ""
