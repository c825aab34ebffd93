"""One segment file: its header, its lines, and a writer that knows which of its bytes are safe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from deskagent.errors import UsageError
from deskagent.session import files, record

FORMAT = (1, 0)
"""Version of the format. A reader opens every major version up to its own, and every minor one."""

_PENDING_LIMIT = 1 << 20


class Header(msgspec.Struct, frozen=True, tag="journal", tag_field="type"):
    """First line of every segment, with sequence number 0; `first` is the number its first event gets."""

    format: tuple[int, int]
    session: str
    segment: int
    first: int


class Line(msgspec.Struct, frozen=True):
    """A line as found: where it starts, its bytes, and what is in it (None: damaged)."""

    offset: int
    raw: bytes
    content: Header | record.Envelope | None


def lines(path: Path, offset: int = 0) -> Iterator[Line]:
    """The lines of a segment from `offset` on, split at newline bytes alone. UsageError if a newer major version wrote
    it."""
    with files.open_read(path) as file:
        file.seek(offset)
        for raw in file:
            yield Line(offset, raw, _content(raw, path))
            offset += len(raw)


def header(path: Path) -> Header | None:
    """The header of a segment, or None if its first line is none."""
    for line in lines(path):
        return line.content if isinstance(line.content, Header) else None
    return None


def _content(raw: bytes, path: Path) -> Header | record.Envelope | None:
    envelope = record.decode_line(raw)
    if envelope is None or envelope.seq > 0:
        return envelope
    try:
        plain: dict[str, Any] = record.decode_payload(envelope.payload)
        major = plain["format"][0]
        if major > FORMAT[0]:
            raise UsageError(
                f"Session {path.parent.name} was written by a newer deskagent: its format is {major}, "
                f"this one reads up to {FORMAT[0]}.",
                hint="Update deskagent to open it.",
            )
        return msgspec.convert(plain, Header)
    except (msgspec.DecodeError, LookupError, TypeError):
        return None


def begin(path: Path, head: Header) -> SegmentWriter:
    """A new segment at `path`, durable with its header. What a failed try left there is written over."""
    fd = files.open_write(path)
    try:
        files.truncate(fd, 0)
        line = record.encode(0, msgspec.to_builtins(head))
        files.write(fd, line, 0)
    finally:
        files.close(fd)
    writer = SegmentWriter(path, len(line))
    try:
        files.sync_dir(path.parent)
    except BaseException:
        writer.close()
        raise
    return writer


class SegmentWriter:
    """Appends lines to a segment; a line is in the file when `append` returns, and durable if it was synced.

    What was acknowledged without a sync is kept in memory until the next one: after a failed sync the system
    may have dropped it from its cache as if written, and only writing it again makes it safe.
    """

    def __init__(self, path: Path, size: int) -> None:
        """Opens `path`, whose first `size` bytes are good, and makes them durable."""
        self.path = path
        self._fd = files.open_write(path)
        self._durable = size
        self._pending = bytearray()
        self._whole = True  # the file ends with the last acknowledged line
        try:
            files.sync(self._fd)
        except BaseException:
            files.close(self._fd)
            raise

    @property
    def size(self) -> int:
        return self._durable + len(self._pending)

    def append(self, line: bytes, *, sync: bool) -> None:
        """Adds `line`. OSError if it could not: the line is not in the file, or is removed by the next
        call."""
        if not self._whole:
            self._repair()
        self._whole = False
        try:
            files.write(self._fd, line, self.size)
            if sync or len(self._pending) + len(line) > _PENDING_LIMIT:
                files.sync(self._fd)
                self._durable, self._pending = self.size + len(line), bytearray()
            else:
                self._pending += line
        except OSError:
            self._cut()
            raise
        self._whole = True

    def sync(self) -> None:
        """Makes every acknowledged line durable, writing it again if the first sync fails. OSError if that
        fails too."""
        if self._whole and self._pending:
            self._whole = False
            try:
                files.sync(self._fd)
                self._durable, self._pending, self._whole = self.size, bytearray(), True
            except OSError:
                self._repair()
        elif not self._whole:
            self._repair()

    def close(self) -> None:
        files.close(self._fd)

    def _repair(self) -> None:
        # Rewritten before it is cut, so that no moment lacks an acknowledged line.
        files.write(self._fd, self._pending, self._durable)
        files.truncate(self._fd, self.size)
        files.sync(self._fd)
        self._durable, self._pending, self._whole = self.size, bytearray(), True

    def _cut(self) -> None:
        # A try, so that readers don't see what was not acknowledged; _repair does it again, with a sync.
        try:
            files.truncate(self._fd, self.size)
        except OSError:
            return
