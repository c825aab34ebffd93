"""One writer a session: a lock that the system drops when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from pathlib import Path

import msgspec

from deskagent.errors import TransientError
from deskagent.session import files

NAME = "lock"
_WAITS = (0.0, 0.02, 0.05, 0.1)  # a reader that asks `is_held` has the lock for an instant


class _Holder(msgspec.Struct):
    pid: int
    argv: list[str]
    since: str


class Lock:
    """The writer's lock on a session's folder, held from `Lock(folder)` to `release()`.

    TransientError, naming the holder, if another process (or another journal in this one) has it.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        with files.storage_errors("lock the session", folder):
            self._fd = files.open_write(path)
            try:
                taken = any(_try(self._fd, fcntl.LOCK_EX, wait) for wait in _WAITS)
            except BaseException:
                files.close(self._fd)
                raise
        if not taken:
            holder = _holder(self._fd)
            files.close(self._fd)
            raise TransientError(
                f"Session {folder.name} is in use by {holder}.",
                hint="Wait for it to end; reading it is possible at any time.",
            )
        self._sign()

    def release(self) -> None:
        files.close(self._fd)

    def _sign(self) -> None:
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        note = msgspec.json.encode(
            _Holder(os.getpid(), [os.fsencode(a).decode("utf-8", "replace") for a in sys.argv], since)
        )
        # The note only makes the other process's message better: a full disk must not cost the lock.
        with contextlib.suppress(OSError):
            files.truncate(self._fd, 0)
            files.write(self._fd, note, 0)


def is_held(folder: Path) -> bool:
    """Whether a process is writing the session in `folder`."""
    try:
        fd = os.open(folder / NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try(fd, fcntl.LOCK_SH, 0.0)
    except OSError:
        return False
    finally:
        files.close(fd)


def _try(fd: int, kind: int, wait: float) -> bool:
    time.sleep(wait)
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(fd: int) -> str:
    try:
        holder = msgspec.json.decode(os.pread(fd, 65536, 0), type=_Holder)
    except (OSError, msgspec.DecodeError):
        return "another process"
    return f"process {holder.pid} since {holder.since} ({' '.join(holder.argv)[:200]})"
