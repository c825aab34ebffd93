"""A session's journal: append-only, checksummed, one writer, any number of readers.

A folder a session: segments `000001.jsonl`, …, a `lock`, `blobs/`. See docs/session-format.md.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from deskagent import __version__
from deskagent.errors import DeskagentError
from deskagent.session import away, files, kept, reading, record, recovery, segment, store
from deskagent.session.blobs import Blobs
from deskagent.session.event import Event
from deskagent.session.events import ApplyIntent, ApplyResult, SessionStarted
from deskagent.session.lock import Lock
from deskagent.session.record import Place, Record
from deskagent.session.recovery import Damage

_log = logging.getLogger(__name__)

SEGMENT_BYTES = 4 << 20
"""A segment that has grown beyond this is followed by a new one."""


class Journal:
    """An open session, made by `create` or `open`. Safe to share between threads, not between processes.

    `id` and `path` name it, `seq` is the number of the last event written, `blobs` holds file contents.
    """

    def __init__(self, folder: Path, lock: Lock | None, segment_bytes: int) -> None:
        self.path = folder
        self.id = folder.name
        self.seq = 0
        self.blobs = Blobs(folder / "blobs", write=lock is not None)
        self._lock = lock
        self._limit = segment_bytes
        self._lazy = False  # nothing is synced before the end
        self._mutex = threading.Lock()
        self._writer: segment.SegmentWriter | None = None
        self._opening: tuple[Damage, ...] = ()
        self._reading: list[Damage] = []
        self._kept: kept.Kept | None = None
        self._looked = False

    @classmethod
    def create(
        cls, cwd: Path, *, argv: Sequence[str] = (), mode: str = "", segment_bytes: int = SEGMENT_BYTES
    ) -> Self:
        """A new session for work in `cwd`, its first event (`SessionStarted`) written.

        TransientError if the disk can't take it now, UsageError if sessions can't be written here at all;
        then nothing is left of it.
        """
        return cls._new(
            segment_bytes, lambda made: made.append(SessionStarted(__version__, str(cwd), tuple(argv), mode))
        )

    @classmethod
    def fork(cls, source: Journal, *, segment_bytes: int = SEGMENT_BYTES) -> Self:
        """A new session that has seen what `source` has; `source`, open in any way, stays as it is.

        Changes of files aren't taken over: they are the other session's, which alone can settle and undo them. Nor is
        what is damaged there. Errors as `create`, and those of reading.
        """

        def take_over(made: Self) -> None:
            for name in source.blobs.names():
                try:
                    data = source.blobs.get(name)
                except DeskagentError as error:
                    _log.warning("not taken over: %s", error)
                else:
                    made.blobs.put(data)
            for item in source.read():
                if not isinstance(item.event, ApplyIntent | ApplyResult):
                    made.append(item.event)

        return cls._new(segment_bytes, take_over)

    @classmethod
    def bring(cls, began: float, fill: Callable[[Self], object]) -> str:
        """A session that `fill` appends all events to, with their own times, synced once: it is there whole or not at
        all. began: Unix seconds. Gives its id. Errors as `create`, and those of `fill`."""
        with files.storage_errors("make a session", store.sessions_dir()):
            folder = store.new_folder(began, store.MAKING)
            try:
                with cls(folder, Lock(folder), SEGMENT_BYTES) as journal:
                    journal.id = folder.name.removesuffix(store.MAKING)
                    journal._lazy = True
                    journal._begin_segment(1)
                    fill(journal)
                return store.finish(folder).name
            except BaseException:
                store.discard(folder)
                raise

    @classmethod
    def _new(cls, segment_bytes: int, fill: Callable[[Self], object]) -> Self:
        folder = store.new_folder()
        journal = None
        try:
            journal = cls(folder, Lock(folder), segment_bytes)
            with files.storage_errors("make a session", folder):
                journal._begin_segment(1)
            fill(journal)
        except BaseException:
            store.discard(folder)
            if journal is not None:
                journal._let_go()
            raise
        return journal

    @classmethod
    def open(cls, session: str | Path, *, write: bool = True, segment_bytes: int = SEGMENT_BYTES) -> Self:
        """The session of that id (or its unambiguous beginning) or folder.

        With `write`, takes the writer's lock and repairs what a crash or a bad disk left; `warnings` then
        says what it was. TransientError if another process holds the lock or the disk fails; UsageError if
        there is no such session or a newer deskagent wrote it.
        """
        folder = store.find(session)
        if not write:
            return cls(folder, None, segment_bytes)
        journal = cls(folder, Lock(folder), segment_bytes)
        try:
            with files.storage_errors("open the session", folder):
                found = journal.kept
                if found is None:
                    away.bring_back(folder)
                journal._continue(recovery.recover(folder, found.mark.place if found else None))
        except BaseException:
            journal._let_go()
            raise
        return journal

    @property
    def warnings(self) -> tuple[Damage, ...]:
        """What was wrong: found (and mended) when it was opened for writing, or by the latest `read`."""
        return (*self._opening, *self._reading)

    @property
    def damage(self) -> list[Damage]:
        """What the latest `read` found wrong so far."""
        return self._reading

    @property
    def kept(self) -> kept.Kept | None:
        """What is kept of it beside the events, if that holds."""
        if not self._looked:
            self._kept, self._looked = kept.load(self.path, write=self._lock is not None), True
        return self._kept

    def keep(self, kinds: Sequence[type[kept.View]]) -> None:
        """Keeps these views of all events so far, for whoever opens it next. It is open for writing."""
        self._kept, self._looked = kept.save(self, kinds), True

    def roll(self, url: str) -> int:
        """Sends its finished segments to `url`, and gives how many. It is open for writing. Errors: as `away.roll`."""
        return away.roll(self.path, url, self._lock)

    def append(self, event: Event, sync: bool = False) -> int:
        """Adds `event` and returns its number. It survives a crash of the process from then on, and one of
        the machine if its type or `sync` asks for that.

        TransientError if it could not be saved: then it is not in the session, what it announces must not be
        done, and a later call may succeed.
        """
        if not event.time:
            event = msgspec.structs.replace(event, time=time.time())
        with self._mutex, files.storage_errors("save the session", self.path):
            if self._writer is None:
                raise DeskagentError(f"Session {self.id} is not open for writing.")
            if self._writer.size >= self._limit:
                self._begin_segment(store.number(self._writer.path) + 1)
            line = record.encode(self.seq + 1, event)
            # Counted first: an interrupt in between may leave a gap, never one number for two events.
            self.seq += 1
            try:
                self._writer.append(line, sync=(sync or event.sync) and not self._lazy)
            except OSError:
                self.seq -= 1
                raise
            return self.seq

    def read(self, after: int = 0, start: Place | None = None) -> Iterator[Record]:
        """The records with numbers above `after`, in order. Damaged ones are left out and put into
        `warnings`. start: a place not behind them that is known to hold.

        UsageError if a newer deskagent wrote the session.
        """
        kept = self.kept if after and start is None else None
        known = kept if kept and kept.mark.seq <= after else None
        self._reading = damage = list(known.damage) if known else []
        place = known.mark.place if known else start
        away.bring_back(self.path, place.segment if place else 0)
        with files.storage_errors("read the session", self.path):
            found = store.segments(self.path)
        for item in reading.records(found, after, damage, place):
            if self._writer is not None and item.seq > self.seq:
                return  # left by a failed append, cut by the next one
            yield item

    def tail(self, count: int) -> Iterator[Record]:
        """The last `count` records: as `read`, at the cost of the segments that they are in."""
        with files.storage_errors("read the session", self.path):
            last = self.seq or reading.last_number(store.segments(self.path))
        return self.read(max(0, last - count))

    def close(self) -> None:
        """Makes everything durable and gives the lock back. TransientError if the disk can't; it is closed
        all the same."""
        with self._mutex:
            try:
                if self._writer is not None:
                    with files.storage_errors("save the session", self.path):
                        self._writer.sync()
            finally:
                self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _let_go(self) -> None:
        writer, lock, self._writer, self._lock = self._writer, self._lock, None, None
        if writer is not None:
            writer.close()
        if lock is not None:
            lock.release()

    def _continue(self, tail: recovery.Tail) -> None:
        self.seq, self._opening = tail.last, tail.damage
        for left in self.path.rglob("*.tmp"):
            files.remove(left)
        number = store.number(tail.path) if tail.path else 0
        # A segment holds one version of the format, and begins with its header.
        if tail.path and tail.header and tail.header.format == segment.FORMAT:
            self._writer = segment.SegmentWriter(tail.path, tail.size)
        else:
            self._begin_segment(number + 1 if tail.size else max(number, 1))

    def _begin_segment(self, number: int) -> None:
        path = self.path / f"{number:06}.jsonl"
        old = self._writer
        if old is not None:
            old.sync()
        # One assignment: an interrupt before it leaves a header that the next try writes over.
        self._writer = segment.begin(path, segment.Header(segment.FORMAT, self.id, number, self.seq + 1))
        if old is not None:
            old.close()
