"""Descriptors between us and a child: opened at their largest, read and written without waiting for ever."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import termios
import time
from collections.abc import Callable

CHUNK = 1 << 20
"""Bytes read at once, and what a pipe holds where the system lets it."""


def pipe() -> tuple[int, int]:
    """(reading end, writing end) of a pipe as large as allowed."""
    reading, writing = os.pipe()
    with contextlib.suppress(OSError, AttributeError):  # not on this system, or the person's share is used up
        fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, CHUNK)
    return reading, writing


def terminal(size: tuple[int, int]) -> tuple[int, int]:
    """(our end, the child's end) of a new terminal of `size` = (rows, columns)."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, size)
    return ours, theirs


class Ends:
    """Descriptors of a start: on leaving, the child's are closed, and ours unless `keep` was called."""

    def __init__(self) -> None:
        self._ours = contextlib.ExitStack()
        self._theirs = contextlib.ExitStack()

    def own(self, fd: int) -> int:
        self._ours.callback(os.close, fd)
        return fd

    def lend(self, fd: int) -> int:
        self._theirs.callback(os.close, fd)
        return fd

    def pair(self, fds: tuple[int, int], *, ours: int) -> tuple[int, int]:
        """Takes both ends, of which the one at index `ours` is ours."""
        self.own(fds[ours])
        self.lend(fds[1 - ours])
        return fds

    def undo(self, action: Callable[[], None]) -> None:
        """Calls `action` as well where the start fails."""
        self._ours.callback(action)

    def keep(self) -> None:
        """The start went well."""
        self._ours.pop_all()

    def __enter__(self) -> Ends:
        return self

    def __exit__(self, *_: object) -> None:
        self._theirs.close()
        self._ours.close()


def read(fd: int, into: memoryview) -> int | None:
    """Bytes read into `into`; 0 at the end (EIO at a terminal), None where there is nothing now."""
    try:
        return os.readv(fd, [into])
    except BlockingIOError:
        return None
    except OSError:
        return 0


def write(fd: int, data: memoryview) -> int | None:
    """Bytes that `fd` took without waiting (it must not block); None where nobody reads any more."""
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0
    except OSError:
        return None


def ready(fd: int, event: int, timeout: float | None) -> bool:
    """Waits until `event` (select.POLLIN, …) or a hang-up on `fd`; False after `timeout` seconds."""
    poller = select.poll()
    poller.register(fd, event)
    return bool(poller.poll(None if timeout is None else max(0.0, timeout) * 1000))


class Reader:
    """Reads lines or counted bytes from a descriptor within a time limit. Single reader."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()
        self._ended = False

    def fileno(self) -> int:
        return self._fd

    def _more(self, until: float | None) -> bool:
        """Reads once more; False at the end. TimeoutError at the monotonic time `until`."""
        if self._ended:
            return False
        if not ready(self._fd, select.POLLIN, None if until is None else until - time.monotonic()):
            raise TimeoutError
        chunk = os.read(self._fd, CHUNK)
        self._buffer += chunk
        self._ended = not chunk
        return not self._ended

    def _take(self, count: int) -> bytes:
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def line(self, timeout: float | None = None, limit: int = 64 << 20) -> bytes:
        """The next line with its newline; what is left at the end, then b"".

        TimeoutError after `timeout` seconds (what came so far is kept for the next call); ValueError for a
        line of over `limit` bytes.
        """
        until = None if timeout is None else time.monotonic() + timeout
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > limit:
                raise ValueError(f"a line of over {limit} bytes")
            if not self._more(until):
                return self._take(len(self._buffer))
        return self._take(end + 1)

    def exactly(self, count: int, timeout: float | None = None) -> bytes:
        """The next `count` bytes, fewer only at the end. TimeoutError as in `line`."""
        until = None if timeout is None else time.monotonic() + timeout
        while len(self._buffer) < count and self._more(until):
            pass
        return self._take(count)
