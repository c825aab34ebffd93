"""What a session's events come to, kept beside the journal: so a long session opens without being read as a whole.

The journal alone is true. What is kept counts only as far as the journal's bytes are those that it was made of, and
what is missing, damaged or of another version is made anew from all events.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import msgspec

from deskagent import __version__
from deskagent.errors import DeskagentError
from deskagent.session import files, record
from deskagent.session.mark import Mark, checked, set_at
from deskagent.session.record import Record
from deskagent.session.recovery import Damage

NAME = "state"
VERSION = 1
"""Goes up when a view comes to something else from the same events, or keeps it otherwise."""
_STAYS = {"gap", "duplicate"}
"""Damage that no opening mends."""
_log = logging.getLogger(__name__)


class Head(msgspec.Struct, frozen=True):
    """The first line of the file. damage: in what was read, that can't be mended. views: their names; each has a line
    of its own."""

    version: tuple[int, str]
    mark: Mark
    damage: tuple[Damage, ...]
    views: tuple[str, ...]


class Kept(msgspec.Struct, frozen=True):
    """lines: by the view's name, as they stand in the file; they are looked at when they are needed."""

    head: Head
    lines: dict[str, bytes]

    @property
    def mark(self) -> Mark:
        return self.head.mark

    @property
    def damage(self) -> tuple[Damage, ...]:
        return self.head.damage


class Readable(Protocol):
    """A journal, as far as it is needed here."""

    path: Path

    @property
    def kept(self) -> Kept | None: ...

    @property
    def damage(self) -> Sequence[Damage]: ...

    def read(self, after: int = 0) -> Any: ...


class View(Protocol):
    """Something that is made of a session's events, one after the other. `NAME` names it in the file, where it is a
    `KEPT`."""

    NAME: ClassVar[str]
    KEPT: ClassVar[Any]

    @classmethod
    def begun(cls, journal: Readable, kept: Any) -> Self:
        """As it was kept, or before the first event where that is None."""
        ...

    def see(self, record: Record) -> None: ...

    def dump(self) -> Any:
        """All that it holds."""
        ...


V = TypeVar("V", bound=View)


def load(folder: Path, *, write: bool) -> Kept | None:
    """What is kept of the session in `folder` and holds; None where nothing does. With `write`, that the segments were
    found to be as they were is kept too."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        first, *lines = (folder / NAME).read_bytes().splitlines(keepends=True) or [b""]
        line = record.decode_line(first)
        head = msgspec.json.decode(line.payload, type=Head) if line else None
        if head is None or head.version != (VERSION, __version__) or len(lines) != len(head.views):
            return None
        mark = checked(head.mark, folder)
        if mark is None:
            return None
        found = Kept(msgspec.structs.replace(head, mark=mark), dict(zip(head.views, lines, strict=True)))
        if write and mark != head.mark:
            _write(folder, found)
        return found
    return None


def view(journal: Readable, kind: type[V]) -> V:
    """The view of all events so far."""
    return _views(journal, [kind])[0][0]


def save(journal: Readable, kinds: Sequence[type[View]]) -> Kept | None:
    """Keeps these views of all events so far; the caller holds the session's lock. Gives what is kept now. A disk that
    can't give or take it changes nothing."""
    before = journal.kept
    try:
        views, last = _views(journal, kinds)
        if last is None or any(each.kind not in _STAYS for each in journal.damage):
            return before
        mark = set_at(last.end, journal.path, before.mark if before else None)
        head = Head((VERSION, __version__), mark, tuple(journal.damage), tuple(each.NAME for each in views))
        payloads = (record.encode_payload(each.dump()) for each in views)
        lines = [record.line(number, payload) for number, payload in enumerate(payloads, 1)]
        kept = Kept(head, dict(zip(head.views, lines, strict=True)))
        _write(journal.path, kept)
    except (OSError, DeskagentError) as error:
        _log.warning("what the session comes to could not be kept: %s", error)
        return before
    return kept


def _write(folder: Path, kept: Kept) -> None:
    """OSError where the disk can't. It isn't synced: a file that isn't whole doesn't count."""
    lines = (record.line(0, msgspec.json.encode(kept.head)), *kept.lines.values())
    files.replace(folder / NAME, b"".join(lines), durable=False)


def _views(journal: Readable, kinds: Sequence[type[V]]) -> tuple[list[V], Record | None]:
    """The views of all events so far, and the last record after what was kept."""
    kept = journal.kept
    views = _loaded(journal, kept, kinds) if kept else None
    if kept is None or views is None:
        kept, views = None, [kind.begun(journal, None) for kind in kinds]
    last = None
    for item in journal.read(kept.mark.seq if kept else 0):
        last = item
        for each in views:
            each.see(item)
    return views, last


def _loaded(journal: Readable, kept: Kept, kinds: Sequence[type[V]]) -> list[V] | None:
    """The views as they were kept; None where one of them wasn't."""
    try:
        return [kind.begun(journal, _read(kept.lines[kind.NAME], kind)) for kind in kinds]
    except (KeyError, msgspec.DecodeError):
        return None


def _read(line: bytes, kind: type[View]) -> Any:
    """What was dumped into a line. msgspec.DecodeError where it is damaged."""
    found = record.decode_line(line)
    if found is None:
        raise msgspec.DecodeError("a wrong checksum")
    return record.decode_as(found.payload, kind.KEPT)
