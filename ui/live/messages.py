"""What the conversation's thread tells the app, beside the events of the session and what passes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deskagent.agent.front import Question
    from ui.log.facts import Facts
    from ui.log.fold import Fold
    from ui.log.waiting import Waiting


@dataclass
class Asked:
    """A question, and where its answer is put. Who asked waits on a thread of its own."""

    question: Question
    choices: tuple[str, ...]
    _answered: threading.Event = field(default_factory=threading.Event)
    _answer: str = ""

    def answer(self, text: str) -> None:
        """The first answer counts."""
        if not self._answered.is_set():
            self._answer = text
            self._answered.set()

    def wait(self) -> str:
        self._answered.wait()
        return self._answer


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Nobody waits for the answer any more."""

    asked: Asked


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a session can't say of itself. context: tokens that the model takes. rung: of the sandbox. branch: of git,
    "" for none."""

    context: int = 0
    rung: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """The session can be gone on with. fold, facts, waiting, readers (of panes, by their ids): have read it so far, and
    are the app's from now on. said: what the person said in it. commands: of the person's own, by name, with what they
    say."""

    session: str
    project: Path
    fold: Fold
    facts: Facts
    waiting: Waiting
    readers: Mapping[str, object]
    said: tuple[str, ...]
    commands: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Working:
    """Whether something is being done. stopped: it ended since it was interrupted."""

    on: bool
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """Words for the person that aren't in the log."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Leaving:
    """The person said that they leave."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The session is closed. error, hint: what ended it, "" where the person left. unready: it wasn't begun, since what
    it needs isn't there."""

    error: str = ""
    hint: str = ""
    unready: bool = False
