"""The index: an SQLite database over the journals that may be lost at any time.

The journals alone are true. Each use first compares every session's segments (names, sizes, times) with what the
database saw, and reads what came since, or the whole again, so that no kill can leave it wrong. A damaged database is
made anew; one that is locked, or can't be written, is done without.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from deskagent import paths
from deskagent.errors import DeskagentError
from deskagent.session import store
from deskagent.session.journal import Journal
from deskagent.session.mark import Mark, checked, set_at
from deskagent.session.record import encode_payload
from deskagent.session.summary import summarise, text

SHIFT = 32
"""The row of an event's text is its session's number, shifted by this, plus the event's own."""

_VERSION = 3
_WAIT = 2.0  # seconds for another process's update
_SCHEMA = (
    "CREATE TABLE session (number INTEGER PRIMARY KEY, id TEXT UNIQUE, stamp TEXT, summary BLOB, mark BLOB)",
    "CREATE VIRTUAL TABLE line USING fts5 (body)",
)
_T = TypeVar("_T")


def use(question: Callable[[sqlite3.Connection], _T], otherwise: Callable[[], _T]) -> _T:
    """The answer to `question` from an up-to-date database, or `otherwise()` where none can be had."""
    for _ in range(2):
        try:
            with contextlib.closing(_connect()) as db:
                _refresh(db)
                return question(db)
        except (sqlite3.Error, msgspec.DecodeError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                break
            if not _remove():
                break
        except OSError:
            break
    return otherwise()


def _path() -> Path:
    return paths.cache_dir() / "sessions.db"


def _connect() -> sqlite3.Connection:
    path = _path()
    paths.private_dir(path.parent)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # SQLite would make it 0644
    db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=OFF")  # it can be lost
        if _version(db) != _VERSION:
            _make(db)
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def _make(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    if _version(db) != _VERSION:  # another process may have been faster
        db.execute("DROP TABLE IF EXISTS session")
        db.execute("DROP TABLE IF EXISTS line")
        for statement in _SCHEMA:
            db.execute(statement)
        db.execute(f"PRAGMA user_version={_VERSION}")
    db.execute("COMMIT")


def _remove() -> bool:
    try:
        for suffix in ("", "-wal", "-shm"):
            _path().with_name(_path().name + suffix).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _refresh(db: sqlite3.Connection) -> None:
    rows = db.execute("SELECT id, stamp, number, mark FROM session").fetchall()
    known: dict[str, str] = {id: stamp for id, stamp, _, _ in rows}
    seen: dict[str, tuple[int, bytes]] = {id: (number, mark) for id, _, number, mark in rows}
    now = {folder.name: (folder, _stamp(folder)) for folder in store.folders()}
    gone = known.keys() - now.keys()
    changed = [folder for name, (folder, stamp) in now.items() if known.get(name) != stamp]
    if not gone and not changed:
        return
    db.execute("BEGIN IMMEDIATE")
    for name in gone:
        _forget(db, seen[name][0])
    for folder in changed:
        number, mark = seen.get(folder.name, (0, b""))
        before = _held(mark, folder)
        if before is None and number:
            _forget(db, number)
            number = 0
        summary = encode_payload(msgspec.to_builtins(summarise(folder)))
        if number:
            db.execute(
                "UPDATE session SET stamp = ?, summary = ? WHERE number = ?",
                (now[folder.name][1], summary, number),
            )
        else:
            row = (folder.name, now[folder.name][1], summary)
            number = (
                db.execute("INSERT INTO session (id, stamp, summary) VALUES (?, ?, ?)", row).lastrowid or 0
            )
        after = _add(db, number, folder, before)
        db.execute("UPDATE session SET mark = ? WHERE number = ?", (after, number))
    db.execute("COMMIT")


def _forget(db: sqlite3.Connection, number: int) -> None:
    db.execute("DELETE FROM session WHERE number = ?", (number,))
    rows = (number << SHIFT, number + 1 << SHIFT)
    db.execute("DELETE FROM line WHERE rowid >= ? AND rowid < ?", rows)


def _held(mark: bytes | None, folder: Path) -> Mark | None:
    """Up to where the session's text is in the database, if its journal still begins so."""
    try:
        return checked(msgspec.json.decode(mark, type=Mark), folder) if mark else None
    except OSError:
        return None


def _add(db: sqlite3.Connection, number: int, folder: Path, before: Mark | None) -> bytes:
    """Adds the texts of the events after `before`, and gives the mark after them; none where there is damage."""
    last = None
    with contextlib.suppress(DeskagentError), Journal.open(folder, write=False) as journal:
        start = before.place if before else None
        for last in journal.read(start.seq if start else 0, start):
            row = ((number << SHIFT) + last.seq, text(last.event))
            db.execute("INSERT INTO line (rowid, body) VALUES (?, ?)", row)
        if not journal.damage:
            mark = set_at(last.end, folder, before) if last else before
            return msgspec.json.encode(mark) if mark else b""
    return b""


def _stamp(folder: Path) -> str:
    try:
        stats = [(path.name, path.stat()) for path in store.segments(folder)]
    except OSError:
        return "unreadable"
    return " ".join(f"{name}:{stat.st_size}:{stat.st_mtime_ns}" for name, stat in stats)
