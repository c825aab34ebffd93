"""What a process printed, in bounded memory: its first and last bytes, the whole in a capped file."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

EDGE = 64 << 10
"""Bytes kept in memory at each end."""


class Output:
    """Collects output. Not thread-safe: one reader feeds it.

    `path` gets the first `limit` bytes, with mode 0600; an existing file is replaced. A disk that fails costs
    the file alone: `problem` says so and counting goes on.
    """

    def __init__(self, path: Path | None = None, limit: int = 0) -> None:
        self.path = path
        self.total = 0
        self.problem = ""
        self._room = limit
        self._head = bytearray()
        self._tail = bytearray()
        self._fd = -1
        if path is not None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(path, flags, 0o600)
            if stat.S_ISREG(os.fstat(self._fd).st_mode):
                os.fchmod(self._fd, 0o600)

    def add(self, data: bytes | memoryview) -> None:
        """Takes the next bytes."""
        data = memoryview(data)
        self.total += len(data)
        if self._fd >= 0 and self._room > 0:
            self._save(data[: self._room])
        if len(self._head) < EDGE:
            taken = EDGE - len(self._head)
            self._head += data[:taken]
            data = data[taken:]
        if len(data) >= EDGE:
            self._tail = bytearray(data[-EDGE:])
        elif data:
            self._tail += data
            if len(self._tail) > 4 * EDGE:  # cut seldom: each cut moves the whole tail
                del self._tail[:-EDGE]

    def _save(self, data: memoryview) -> None:
        self._room -= len(data)
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            self.problem = (
                f"{self.path}: {os.strerror(error.errno or 0)}; the rest of the output is not in this file"
            )
            self.close()

    @property
    def head(self) -> bytes:
        """The first bytes, up to `EDGE`."""
        return bytes(self._head)

    @property
    def tail(self) -> bytes:
        """The last bytes after the head, up to `EDGE`."""
        return bytes(self._tail[-EDGE:])

    def last(self, count: int) -> bytes:
        """The last `count` bytes (at most `EDGE`), whether head or tail."""
        tail = self.tail[-count:]
        return self.head[-(count - len(tail)) :] + tail if len(tail) < count else tail

    def close(self) -> None:
        """Closes the file; what is in memory stays readable."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1
