"""A session in a few words, and its text: what lists and searches are made of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import msgspec

from deskagent.errors import DeskagentError
from deskagent.session import lock
from deskagent.session.event import Event, Unknown
from deskagent.session.events import (
    ApplyIntent,
    ApplyResult,
    Request,
    SessionEnded,
    SessionStarted,
    StepStarted,
)
from deskagent.session.journal import Journal
from deskagent.session.kept import Readable, view
from deskagent.session.record import Record

_TEXT_LIMIT = 100_000  # characters of one field that a search sees
_NOT_TEXT = {"type", "key", "id", "time", "output", "before", "after"}


class Summary(msgspec.Struct, frozen=True):
    """One session. `title` is the latest request; `status` is the run's, else `running`, `interrupted` or
    `unreadable` (then `title` says why). `started` is in Unix seconds, `events` a count. `unsettled`: it began
    to change files and didn't say how that ended."""

    id: str
    cwd: str
    started: float
    title: str
    status: str
    exit_code: int | None
    events: int
    unsettled: bool = False


class _Kept(msgspec.Struct, frozen=True):
    cwd: str = ""
    started: float = 0.0
    title: str = ""
    status: str = ""
    exit_code: int | None = None
    events: int = 0
    open: set[str] = set()


class Summing:
    """A Summary in the making. `open` are changes that weren't said to have ended."""

    NAME: ClassVar[str] = "summary"
    KEPT: ClassVar[Any] = _Kept

    def __init__(self, kept: _Kept | None = None) -> None:
        kept = kept or _Kept()
        self.cwd, self.started, self.title, self.events = kept.cwd, kept.started, kept.title, kept.events
        self.status, self.exit_code, self.open = kept.status, kept.exit_code, set(kept.open)

    @classmethod
    def begun(cls, journal: Readable, kept: _Kept | None) -> Self:
        return cls(kept)

    def dump(self) -> _Kept:
        return _Kept(self.cwd, self.started, self.title, self.status, self.exit_code, self.events, self.open)

    def see(self, record: Record) -> None:
        self.events += 1
        match record.event:
            case SessionStarted() as event:
                self.cwd, self.started = self.cwd or event.cwd, self.started or event.time
                self.status, self.exit_code = "", None
            case Request(text=text):
                self.title, self.status, self.exit_code = text, "", None
            case StepStarted():
                self.status, self.exit_code = "", None
            case SessionEnded() as event:
                self.status, self.exit_code = event.status, event.exit_code
            case ApplyIntent(id=intent):
                self.open.add(intent)
            case ApplyResult(id=intent):
                self.open.discard(intent)
            case _:
                pass


def summarise(folder: Path) -> Summary:
    """The summary of the session in `folder`; never an error."""
    found = Summing()
    try:
        with Journal.open(folder, write=False) as journal:
            found = view(journal, Summing)
    except DeskagentError as error:
        found.status, found.title = "unreadable", error.message
    return Summary(
        folder.name, found.cwd, found.started, found.title, found.status, found.exit_code, found.events,
        bool(found.open),
    )  # fmt: skip


def with_state(summary: Summary, folder: Path) -> Summary:
    """`summary` with the state of a session that has no end: it changes without the journal changing."""
    if summary.status:
        return summary
    return msgspec.structs.replace(summary, status="running" if lock.is_held(folder) else "interrupted")


def texts(folder: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each event that can be read: what a person could look for, a field a line."""
    with contextlib.suppress(DeskagentError), Journal.open(folder, write=False) as journal:
        for record in journal.read():
            yield record.seq, text(record.event)


def text(event: Event) -> str:
    """What a person could look for in it."""
    found: list[str] = []
    _collect(event.raw if isinstance(event, Unknown) else msgspec.to_builtins(event), found)
    return "\n".join(found).encode("utf-8", "replace").decode().replace("\0", " ")


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value[:_TEXT_LIMIT])
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _NOT_TEXT:
                _collect(item, found)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, found)
