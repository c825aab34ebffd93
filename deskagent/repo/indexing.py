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
from contextlib import contextmanager
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


class Writer:
    """Writes the index of `root`. One for each thread; the lock is held only while a call lasts."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._base = f"{os.fspath(root)}/"
        self._folder = store.folder_of(root)
        self._open: _Open | None = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the database; the next call opens it again."""
        if self._open:
            self._open.close()
        self._open = None

    def refresh(self, *, seconds: float | None = None, progress: Progress | None = None) -> Outcome:
        """Brings the index up to date, in at most about `seconds` (none: as long as it takes).

        Raises store.Locked if another process does so already, TransientError where the disk is full or fails.
        """
        started = time.monotonic()
        with self._database(), ThreadPoolExecutor(1) as pool:
            self._renew()
            # git lists while the known files are looked at
            known: dict[str, list[int]] = {}
            listing = pool.submit(walk.names, self._root, known=known)
            for path, *stamp in self._rows("SELECT path, size, mtime, ctime, inode FROM file"):
                known[os.fsdecode(path)] = stamp
            now = self._stamps(list(known))
            names, complete = listing.result()
            cut = not complete or len(names) > walk.MAX_FILES
            names = names[: walk.MAX_FILES]
            now |= self._stamps([name for name in names if name not in known])
            there = [name for name in names if name in now]
            changed = [name for name in there if now[name] != known.get(name)]
            gone = known.keys() - there
            finished = True
            if changed or gone or not self._noted("complete"):
                with self._transaction():
                    self._note("complete", "")
                    self._note("listed", str(len(there)))
                    self._note("cut", "yes" if cut else "")
                    for name in gone:
                        self._contents.drop(name)
                finished = self._read(changed, None if seconds is None else started + seconds, progress)
                if finished:
                    with self._transaction():
                        self._note("complete", "yes")
            return Outcome(len(there), len(changed), len(gone), time.monotonic() - started, finished)

    def update(self, names: Iterable[str]) -> bool:
        """Reads these files of the index anew, after a save. Errors as for `refresh`.

        Returns False, having done nothing for them, if some are new or gone: that takes a `refresh`.
        """
        all_known = True
        with self._database(), self._transaction():
            for name in names:
                known = self._rows("SELECT 1 FROM file WHERE path = ?", os.fsencode(name)).fetchone()
                source = sources.read(self._root, name) if known else None
                if source is None:
                    all_known = False
                else:
                    self._contents.put(source)
        return all_known

    @contextmanager
    def _database(self) -> Iterator[None]:
        with store.writing(self._folder):
            try:
                self._reopen()
                yield
            except sqlite3.OperationalError as error:
                self.close()
                raise TransientError(
                    f"The index in {self._folder} can't be written: {error}.",
                    hint="Is the disk full? Try again.",
                ) from error
            except sqlite3.DatabaseError as error:
                self.close()
                store.forget(self._folder)
                raise TransientError(
                    f"The index in {self._folder} was damaged ({error}).", hint="Try again: it is built anew."
                ) from error

    def _reopen(self) -> None:
        """Makes sure that the database is the current one."""
        if self._open and store.current(self._folder) != self._open.path:
            self.close()
        if self._open is None:
            self._open = _Open(self._folder)

    def _renew(self) -> None:
        """Starts a new database if this one holds too much that is dead."""
        contents, living = self._rows(
            "SELECT (SELECT count(*) FROM content), (SELECT count(DISTINCT content) FROM file)"
        ).fetchone()
        if contents - living > _DEAD + living:
            self.close()
            store.forget(self._folder)
            self._open = _Open(self._folder)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._rows("BEGIN IMMEDIATE")
        try:
            yield
            self._rows("COMMIT")
        except BaseException:
            # What is remembered of the database may not be in it.
            self.close()
            raise

    @property
    def _contents(self) -> Contents:
        assert self._open is not None
        return self._open.contents

    def _rows(self, statement: str, *values: object) -> sqlite3.Cursor:
        assert self._open is not None
        return self._open.connection.execute(statement, values)

    def _stamps(self, names: list[str]) -> dict[str, list[int]]:
        """Size, times and inode of those among `names` that are regular files."""
        stamps: dict[str, list[int]] = {}
        for name in names:
            try:
                status = os.lstat(self._base + name)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                stamps[name] = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        return stamps

    def _read(self, names: list[str], end: float | None, progress: Progress | None) -> bool:
        """Reads the files into the database; False if the time ran out first."""
        done = 0
        while done < len(names):
            if end is not None and time.monotonic() > end:
                return False
            batch_end = time.monotonic() + _BATCH_SECONDS
            with self._transaction():
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
        self._rows("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)

    def _noted(self, key: str) -> str:
        row = self._rows("SELECT value FROM meta WHERE key = ?", key).fetchone()
        return row[0] if row else ""


class _Open:
    """A database that is being written to, and what is remembered of it."""

    def __init__(self, folder: Path) -> None:
        self.connection = store.connect_writer(folder)
        self.path = store.current(folder)
        self._attempts = Attempts(folder)
        self.contents = Contents(self.connection, self._attempts)

    def close(self) -> None:
        """An unfinished transaction is undone by this."""
        self._attempts.close()
        self.connection.close()
