"""A session in a few words, and its text: what lists and searches are made of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def summarise(folder: Path) -> Summary:
    """The summary of the session in `folder`; never an error."""
    cwd = title = status = ""
    started, exit_code, events = 0.0, None, 0
    intents: set[str] = set()
    try:
        with Journal.open(folder, write=False) as journal:
            for record in journal.read():
                events += 1
                match record.event:
                    case SessionStarted() as event:
                        cwd, started = cwd or event.cwd, started or event.time
                        status, exit_code = "", None
                    case Request(text=text):
                        title, status, exit_code = text, "", None
                    case StepStarted():
                        status, exit_code = "", None
                    case SessionEnded() as event:
                        status, exit_code = event.status, event.exit_code
                    case ApplyIntent(id=intent):
                        intents.add(intent)
                    case ApplyResult(id=intent):
                        intents.discard(intent)
                    case _:
                        pass
    except DeskagentError as error:
        status, title = "unreadable", error.message
    return Summary(folder.name, cwd, started, title, status, exit_code, events, bool(intents))


def with_state(summary: Summary, folder: Path) -> Summary:
    """`summary` with the state of a session that has no end: it changes without the journal changing."""
    if summary.status:
        return summary
    return msgspec.structs.replace(summary, status="running" if lock.is_held(folder) else "interrupted")


def texts(folder: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each event that can be read: what a person could look for, a field a line."""
    with contextlib.suppress(DeskagentError), Journal.open(folder, write=False) as journal:
        for record in journal.read():
            yield record.seq, _text(record.event)


def _text(event: Event) -> str:
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
