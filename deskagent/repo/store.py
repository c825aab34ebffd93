"""Where an index lies on disk, and how its database is opened, replaced and locked.

    <cache>/index/<hash of the root>/
        current          name of the database in use, replaced as a whole
        <random>.db      SQLite, WAL; a new name for every rebuild, so nobody reads one under another's feet
        lock             held by the one process that writes
        attempt          the content that is being parsed, and how often that ended a process

Everything here can be rebuilt: a database of another version or a damaged one is left for a new one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import logging
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deskagent import paths
from deskagent.errors import TransientError, UsageError

_log = logging.getLogger(__name__)

VERSION = 2  # also raised where what is kept would be found otherwise: symbols, mentions, leads
_BUSY_MS = 2000
_WAITS = (0.0, 0.02, 0.05)  # who asks `is_locked` has the lock for an instant
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE content (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL, language TEXT NOT NULL, note TEXT NOT NULL, mentions BLOB NOT NULL,
    UNIQUE (hash, language)
);
CREATE TABLE file (
    path BLOB PRIMARY KEY, content INTEGER, note TEXT NOT NULL,
    size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX file_content ON file (content);
CREATE TABLE definition (
    content INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    qualified TEXT NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL, signature TEXT NOT NULL,
    PRIMARY KEY (content, ordinal)
) WITHOUT ROWID;
CREATE INDEX definition_name ON definition (name);
CREATE TABLE lead (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, content INTEGER NOT NULL, leads BLOB NOT NULL);
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE body USING fts5 (text, content='', tokenize="unicode61");
CREATE VIRTUAL TABLE trigram USING fts5 (text, content='name', content_rowid='id', tokenize='trigram');
"""


class Locked(TransientError):
    """Another process writes this index now."""


def folder_of(root: Path) -> Path:
    """The folder of the index of `root`; made, private, if absent. TransientError where the disk is full, else
    UsageError."""
    digest = hashlib.blake2b(os.fsencode(root.resolve()), digest_size=12).hexdigest()
    folder = paths.cache_dir() / "index" / digest
    try:
        paths.private_dir(folder.parent)
        return paths.private_dir(folder)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (TransientError if full else UsageError)(
            f"The index can't be kept in {folder}: {error.strerror}.",
            hint="Set DESKAGENT_HOME to a folder that can be written to.",
        ) from error


def current(folder: Path) -> Path | None:
    """The database in use, None if there is none yet."""
    try:
        name = (folder / "current").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    path = folder / name
    return path if name.endswith(".db") and "/" not in name and path.is_file() else None


def connect(path: Path) -> sqlite3.Connection | None:
    """A connection for reading; None if the database is of another version or damaged."""
    try:
        connection = _open(path)
    except sqlite3.DatabaseError as error:
        _log.info("%s can't be read: %s", path, error)
        return None
    return connection


def connect_writer(folder: Path) -> sqlite3.Connection:
    """A connection for writing, to a new database where the old one is missing or unfit. Hold the lock."""
    path = current(folder)
    found = connect(path) if path else None
    return found or _create(folder)


def forget(folder: Path) -> None:
    """Says that the current database is unfit: the next writer makes a new one."""
    with contextlib.suppress(FileNotFoundError):
        (folder / "current").unlink()


def _open(path: Path) -> sqlite3.Connection | None:
    connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -32768")
        connection.execute("PRAGMA temp_store = MEMORY")
        if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            connection.execute("SELECT count(*) FROM meta").fetchone()
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def _create(folder: Path) -> sqlite3.Connection:
    path = folder / f"{secrets.token_hex(8)}.db"
    connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
    connection.close()
    note = folder / f"{secrets.token_hex(8)}.tmp"
    note.write_text(path.name, "ascii")
    note.replace(folder / "current")
    _sweep(folder, path.name)
    fresh = _open(path)
    if fresh is None:
        raise TransientError(f"{path} vanished.", hint="Is something clearing the cache? Try again.")
    return fresh


def _sweep(folder: Path, keep: str) -> None:
    """Deletes what earlier databases left. Who still reads one keeps it until it closes it."""
    for old in folder.iterdir():
        if (".db" in old.name or old.suffix == ".tmp") and not old.name.startswith(keep):
            with contextlib.suppress(OSError):
                old.unlink()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Holds the writer's lock, which the system drops when the process ends. Locked if another has it."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not any(_try(handle, fcntl.LOCK_EX, wait) for wait in _WAITS):
            raise Locked(
                "Another process is updating the index.", hint="Queries go on; they see what is there."
            )
        yield
    finally:
        os.close(handle)


def is_locked(folder: Path) -> bool:
    """Whether a process is writing the index now."""
    try:
        handle = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _try(handle, fcntl.LOCK_SH, 0.0)
    finally:
        os.close(handle)


def _try(handle: int, kind: int, wait: float) -> bool:
    if wait:
        time.sleep(wait)
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
