"""Writes the index: what changed in the project goes into the database, in batches that readers see at once.

Content is kept by its hash, apart from the paths it lies at. So a renamed or copied file, or a branch that is
left and come back to, is never parsed again, and a save only adds rows. What no path has any more is dead
weight, and the database is made anew when that outweighs the living.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from deskagent.errors import TransientError
from deskagent.repo import sources, store, walk
from deskagent.repo.attempts import Attempts
from deskagent.repo.contents import Contents

_BATCH_SECONDS = 0.5
_DEAD = 2000  # contents without a path that are no trouble yet

Progress = Callable[[int, int], None]
"""Called with files done and files to do."""


@dataclass(frozen=True)
class Outcome:
    """What an update did. `finished` is False where its time ran out before all was read."""

    files: int
    changed: int
    removed: int
    seconds: float
    finished: bool = True


def refresh(root: Path, *, seconds: float | None = None, progress: Progress | None = None) -> Outcome:
    """Brings the index of `root` up to date, in at most about `seconds` (none: as long as it takes).

    Raises store.Locked if another process does so already, TransientError where the disk is full or fails.
    """
    started = time.monotonic()
    with _database(root) as (connection, folder):
        work = _Refresh(root, connection, Attempts(folder))
        return work.run(started, seconds, progress)


def update(root: Path, names: Iterable[str]) -> bool:
    """Reads these files of the index anew, after a save. Errors as for `refresh`.

    Returns False, having done nothing for them, if some are new or gone: that takes a `refresh`.
    """
    with _database(root) as (connection, folder):
        contents = Contents(connection, Attempts(folder))
        known = True
        with _transaction(connection):
            for name in names:
                row = connection.execute("SELECT 1 FROM file WHERE path = ?", (os.fsencode(name),)).fetchone()
                source = sources.read(root, name) if row else None
                if source is None:
                    known = False
                else:
                    contents.put(source)
        return known


@contextmanager
def _database(root: Path) -> Iterator[tuple[sqlite3.Connection, Path]]:
    folder = store.folder_of(root)
    with store.writing(folder):
        try:
            with closing(store.connect_writer(folder)) as connection:
                yield connection, folder
        except sqlite3.OperationalError as error:
            raise TransientError(
                f"The index in {folder} can't be written: {error}.", hint="Is the disk full? Try again."
            ) from error
        except sqlite3.DatabaseError as error:
            store.forget(folder)
            raise TransientError(
                f"The index in {folder} was damaged ({error}).", hint="Try again: it is built anew."
            ) from error


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


class _Refresh:
    """One pass over the project."""

    def __init__(self, root: Path, connection: sqlite3.Connection, attempts: Attempts) -> None:
        self._root = root
        self._connection = connection
        self._contents = Contents(connection, attempts)

    def run(self, started: float, seconds: float | None, progress: Progress | None) -> Outcome:
        with ThreadPoolExecutor(1) as pool:  # git lists while the database is read
            listing = pool.submit(walk.names, self._root)
            known = {
                path: stamp
                for path, *stamp in self._connection.execute(
                    "SELECT path, size, mtime, ctime, inode FROM file"
                )
            }
            names, complete = listing.result()
        names = names[: walk.MAX_FILES]
        changed, there = self._compare(names, known)
        gone = [path for path in known if path not in there]
        finished = True
        if changed or gone or not self._noted("complete"):
            with _transaction(self._connection):
                self._note("complete", "")
                self._note("listed", str(len(there)))
                self._note("cut", "" if complete and len(names) < walk.MAX_FILES else "yes")
                self._connection.executemany("DELETE FROM file WHERE path = ?", ((path,) for path in gone))
            finished = self._read(changed, None if seconds is None else started + seconds, progress)
            if finished:
                with _transaction(self._connection):
                    self._note("complete", "yes")
        return Outcome(len(there), len(changed), len(gone), time.monotonic() - started, finished)

    def _compare(self, names: list[str], known: dict[bytes, list[int]]) -> tuple[list[str], set[bytes]]:
        """The regular files among `names` that aren't as they are known, and all of them."""
        changed: list[str] = []
        there: set[bytes] = set()
        base = f"{os.fspath(self._root)}/"
        for name in names:
            try:
                status = os.lstat(base + name)
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode):
                continue
            path = os.fsencode(name)
            there.add(path)
            stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
            if known.get(path) != stamp:
                changed.append(name)
        return changed, there

    def _read(self, names: list[str], end: float | None, progress: Progress | None) -> bool:
        """Reads the files into the database; False if the time ran out first."""
        done = 0
        while done < len(names):
            if end is not None and time.monotonic() > end:
                return False
            batch_end = time.monotonic() + _BATCH_SECONDS
            with _transaction(self._connection):
                while done < len(names) and time.monotonic() < batch_end:
                    source = sources.read(self._root, names[done])
                    if source is None:
                        self._contents.drop(names[done])
                    else:
                        self._contents.put(source)
                    done += 1
            if progress:
                progress(done, len(names))
        return True

    def _note(self, key: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _noted(self, key: str) -> str:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""
