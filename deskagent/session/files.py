"""The storage operations of a session, one plain function each: the place where the tests put faults."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from deskagent.errors import DeskagentError, TransientError, UsageError

_HINTS: dict[int, tuple[type[DeskagentError], str]] = {
    errno.ENOSPC: (TransientError, "The disk is full: make room and try again."),
    errno.EDQUOT: (TransientError, "Your disk quota is used up: make room and try again."),
    errno.EIO: (TransientError, "The disk reports a fault: look at `dmesg`, then try again."),
    errno.EROFS: (
        UsageError,
        "The file system is read-only; DESKAGENT_HOME names another folder for sessions.",
    ),
    errno.ENOENT: (
        UsageError,
        "A folder on this path is gone or can't be made; DESKAGENT_HOME names another one for sessions.",
    ),
    errno.ENOTDIR: (
        UsageError,
        "A part of this path is a file; DESKAGENT_HOME names another folder for sessions and settings.",
    ),
    errno.EACCES: (
        UsageError,
        "Check the folder's owner and mode; DESKAGENT_HOME names another one for sessions.",
    ),
    errno.EPERM: (
        UsageError,
        "Check the folder's owner and mode; DESKAGENT_HOME names another one for sessions.",
    ),
}


@contextlib.contextmanager
def storage_errors(what: str, path: Path) -> Iterator[None]:
    """OSError inside becomes TransientError (UsageError where trying again is no use): `what` failed at
    `path`."""
    try:
        yield
    except OSError as error:
        kind, hint = _HINTS.get(error.errno or 0, (TransientError, "Try again."))
        reason = error.strerror or str(error)
        raise kind(f"Could not {what}: {reason} ({path}).", hint=hint) from error


def open_write(path: Path) -> int:
    """A descriptor to read and write `path`, made with mode 0600 if absent."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def open_read(path: Path) -> BinaryIO:
    return path.open("rb")


def write(fd: int, data: bytes | bytearray, offset: int) -> None:
    """Writes all of `data` at `offset`."""
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view, offset)
        view, offset = view[done:], offset + done


def sync(fd: int) -> None:
    os.fsync(fd)


def truncate(fd: int, size: int) -> None:
    os.ftruncate(fd, size)


def close(fd: int) -> None:
    os.close(fd)


def rename(source: Path, target: Path) -> None:
    source.replace(target)


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def make_dir(path: Path) -> None:
    """Makes `path` with mode 0700. FileExistsError if it is there already."""
    path.mkdir(mode=0o700)


def sync_dir(path: Path) -> None:
    """Makes the names in `path` durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(fd)
    finally:
        close(fd)


def make_dirs(path: Path) -> None:
    """Makes `path` and its missing parents with mode 0700, each durable."""
    if path.is_dir():
        return
    if path.parent != path:
        make_dirs(path.parent)
    with contextlib.suppress(FileExistsError):  # another process was faster
        make_dir(path)
    sync_dir(path.parent)


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Makes `path` hold `data`: the whole of it or what was there before, durably. Where that needn't be durable, the
    loss of power may leave anything."""
    temporary = path.with_name(path.name + ".tmp")
    fd = open_write(temporary)
    try:
        truncate(fd, 0)
        write(fd, data, 0)
        if durable:
            sync(fd)
    finally:
        close(fd)
    rename(temporary, path)
    if durable:
        sync_dir(path.parent)


def append(path: Path, data: bytes) -> None:
    """Adds `data` to the end of `path`, durably."""
    fd = open_write(path)
    try:
        write(fd, data, os.fstat(fd).st_size)
        sync(fd)
    finally:
        close(fd)
    sync_dir(path.parent)
