"""What a pane is: what it reads of the session's log, the widget that shows it, and what it may do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from textual.widget import Widget

if TYPE_CHECKING:
    from deskagent.agent.converse.talk import Talk
    from deskagent.agent.front import Passing
    from deskagent.session.event import Event
    from ui.pictures.tray import Tray


class Reader(Protocol):
    """What a pane knows of the session, and of what passes without being kept."""

    def take(self, event: Event | Passing) -> None: ...


class Shows(Protocol):
    """What a pane's widget can do beside being one."""

    def fresh(self) -> None:
        """The reader has taken new events."""
        ...


class Session(Protocol):
    """The session that is open, for panes that act. talk: its conversation, also while that is at work. `later` has
    something done with it on its own thread (writing files, waiting for locks), once nothing else is being done: errors
    are told to the person; `then` gets the result on the app's thread. tray: the pictures that go
    with the next message."""

    @property
    def project(self) -> Path: ...

    @property
    def talk(self) -> Talk: ...

    @property
    def tray(self) -> Tray: ...

    def later(self, work: Callable[[Talk], Any], then: Callable[[Any], None] = ...) -> None: ...


@dataclass(frozen=True, slots=True)
class Pane:
    """id: also of its tab. title: on the tab. reader: a new one for a session. widget: of a reader that has read the
    session so far; it has `fresh` (see Shows)."""

    id: str
    title: str
    reader: Callable[[], Reader]
    widget: Callable[[Any, Session], Widget]
