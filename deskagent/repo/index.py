"""The index of a project, as the rest of deskagent sees it: `open_index(root)`, then ask.

Asking never waits for a builder. While the index isn't built, or not to the end, answers come from what is
there; `status()` says how much that is. `refresh` brings it up to date here and now, `background.start` does so
in a process of its own.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import msgspec

from deskagent.errors import UsageError
from deskagent.repo import languages, query, repomap, store
from deskagent.repo.indexing import Outcome, Progress, Writer
from deskagent.repo.query import Caller, Definition, Line, Reference

_T = TypeVar("_T")
_LIMIT = 50


class State(StrEnum):
    """How far the index is."""

    ABSENT = "absent"
    PARTIAL = "partial"  # a build is under way or was broken off
    READY = "ready"  # complete when it was last brought up to date


@dataclass(frozen=True)
class Status:
    """What the index holds. `skipped` counts files by the reason they are passed over; `languages` files by
    language ("" for plain text); `missing` names the wheels that aren't installed."""

    state: State
    updating: bool  # a process is writing it now
    folder: Path
    bytes: int
    files: int
    listed: int  # files there are to index, as far as is known
    definitions: int
    languages: dict[str, int]
    skipped: dict[str, int]
    garbled: int  # files without symbols because they couldn't be parsed at a bearable cost
    missing: tuple[str, ...]
    cut: bool  # there are more files than the index takes


class Index:
    """An open index. May be used from several threads; `close` it, or use it in a `with`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = store.folder_of(root)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._path: Path | None = None
        self._writer: Writer | None = None

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the files. A later call opens them again."""
        with self._lock:
            self._drop()
            if self._writer:
                self._writer.close()
                self._writer = None

    # --- asking

    def find(self, name: str) -> list[Definition]:
        """Definitions of `name`, `Class.method` or `module.name`."""
        return self._ask(lambda connection: query.find(connection, name), [])

    def references(self, name: str) -> list[Reference]:
        """Lines where a name is called or stands, by path."""
        return self._ask(lambda connection: query.references(connection, name), [])

    def callers(self, qualified: str) -> list[Caller]:
        """Definitions whose bodies call `qualified`, those of its own file first."""
        return self._ask(lambda connection: query.callers(connection, qualified), [])

    def search_text(self, text: str, limit: int = _LIMIT) -> list[Line]:
        """Lines of the files that hold every word of `text`; words in double quotes stand in a row."""
        return self._ask(lambda connection: query.search_text(connection, self.root, text, limit), [])

    def search_identifiers(self, part: str, limit: int = _LIMIT) -> list[str]:
        """Names that hold `part`, the shortest first."""
        return self._ask(lambda connection: query.search_identifiers(connection, part, limit), [])

    def similar_definitions(self, name: str, limit: int = _LIMIT) -> list[Definition]:
        """Definitions whose names look like `name`, the likest first."""
        return self._ask(lambda connection: query.similar_definitions(connection, name, limit), [])

    def map(self, budget_tokens: int, focus: Collection[str] = ()) -> str:
        """The most important signatures in at most so many tokens; `focus` names what is of interest."""
        return self._ask(lambda connection: repomap.repo_map(connection, budget_tokens, focus), "")

    def status(self) -> Status:
        """What is there, and what isn't."""
        missing = tuple(dict.fromkeys(language.wheel for language in languages.missing()))
        updating = store.is_locked(self._folder)
        none = Status(State.ABSENT, updating, self._folder, 0, 0, 0, 0, {}, {}, 0, missing, False)
        return self._ask(lambda connection: self._status(connection, none), none)

    def _status(self, connection: sqlite3.Connection, base: Status) -> Status:
        noted = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        (definitions,) = connection.execute("SELECT count(*) FROM definition").fetchone()
        (files,) = connection.execute("SELECT count(*) FROM file").fetchone()
        counted = connection.execute(
            "SELECT content.language, count(*), sum(content.note != '')"
            " FROM file JOIN content ON content.id = file.content GROUP BY 1 ORDER BY 2 DESC"
        ).fetchall()
        skipped = connection.execute(
            "SELECT note, count(*) FROM file WHERE content IS NULL GROUP BY 1 ORDER BY 2 DESC"
        ).fetchall()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        return Status(
            state=State.READY if noted.get("complete") else State.PARTIAL,
            updating=base.updating,
            folder=base.folder,
            bytes=pages * size,
            files=files,
            listed=int(noted.get("listed", files)),
            definitions=definitions,
            languages={language: count for language, count, _ in counted},
            skipped=dict(skipped),
            garbled=sum(garbled for _, _, garbled in counted),
            missing=base.missing,
            cut=bool(noted.get("cut")),
        )

    def _ask(self, question: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
        """The answer, or `otherwise` if there is no index or it turns out to be damaged."""
        with self._lock:
            connection = self._reading()
            if connection is None:
                return otherwise
            try:
                return question(connection)
            except sqlite3.OperationalError:
                return otherwise  # held exclusively by a recovery, for an instant
            except (sqlite3.DatabaseError, msgspec.DecodeError):
                self._drop()
                store.forget(self._folder)
                return otherwise

    def _reading(self) -> sqlite3.Connection | None:
        path = store.current(self._folder)
        if path != self._path:
            self._drop()
        if self._connection is None and path is not None:
            self._connection, self._path = store.connect(path), path
        return self._connection

    def _drop(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = self._path = None

    # --- bringing up to date

    def refresh(self, *, seconds: float | None = None, progress: Progress | None = None) -> Outcome:
        """Brings the index up to date here and now. store.Locked if another process is at it."""
        with self._lock:
            return self._writing().refresh(seconds=seconds, progress=progress)

    def update(self, names: Iterable[str]) -> bool:
        """Reads these known files anew; False if some are new or gone, which takes a `refresh`."""
        with self._lock:
            return self._writing().update(names)

    def _writing(self) -> Writer:
        if self._writer is None:
            self._writer = Writer(self.root)
        return self._writer


def open_index(root: Path) -> Index:
    """The index of the project at `root`; it may have yet to be built. UsageError if that is no folder."""
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder.", hint="Name the folder of a project.")
    return Index(root.resolve())
