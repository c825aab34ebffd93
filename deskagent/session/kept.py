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


class Kept(msgspec.Struct, frozen=True):
    """damage: in what was read, that can't be mended. views: by their names."""

    version: tuple[int, str]
    mark: Mark
    damage: tuple[Damage, ...]
    views: dict[str, msgspec.Raw]


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


def load(folder: Path) -> Kept | None:
    """What is kept of the session in `folder` and holds; None where nothing does."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        line = record.decode_line((folder / NAME).read_bytes())
        found = msgspec.json.decode(line.payload, type=Kept) if line else None
        if found and found.version == (VERSION, __version__) and (mark := checked(found.mark, folder)):
            return msgspec.structs.replace(found, mark=mark)
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
        raw = {each.NAME: msgspec.Raw(record.encode_payload(each.dump())) for each in views}
        kept = Kept((VERSION, __version__), mark, tuple(journal.damage), raw)
        line = record.line(0, msgspec.json.encode(kept))
        files.replace(journal.path / NAME, line, durable=False)  # one that isn't whole doesn't count
    except (OSError, DeskagentError) as error:
        _log.warning("what the session comes to could not be kept: %s", error)
        return before
    return kept


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
        return [
            kind.begun(journal, record.decode_as(bytes(kept.views[kind.NAME]), kind.KEPT)) for kind in kinds
        ]
    except (KeyError, msgspec.DecodeError):
        return None
