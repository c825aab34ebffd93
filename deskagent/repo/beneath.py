"""Opens what lies beneath a folder, and never anything else.

A sandboxed test can leave a symlink anywhere in the workspace, and can swap a folder for one between a
check and the use that follows. So every step of a path is opened on its own, relative to the one before,
and refuses links.
"""

# ruff: noqa: PTH118

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deskagent.errors import UsageError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # NONBLOCK: a FIFO must not hold us


def split(name: str) -> tuple[str, ...]:
    """The parts of a project-relative POSIX path. UsageError if it could lead anywhere else."""
    parts = tuple(name.split("/"))
    if not name or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise UsageError(
            f"{name!r} is not a path inside the project.",
            hint="Give it relative to the project, with no `..`.",
        )
    if any(part.lower() == ".git" for part in parts):
        raise UsageError(f"{name!r} belongs to git itself.", hint="Files below .git are never edited.")
    return parts


def resolve(root: Path, name: str) -> tuple[str, ...]:
    """The parts of `name` with symlinks that stay inside `root` followed; UsageError for one leading out."""
    split(name)
    base = os.path.realpath(root)
    real = os.path.realpath(os.path.join(base, name))
    if not real.startswith(base.rstrip("/") + "/"):
        raise UsageError(
            f"{name} is, or lies behind, a symbolic link that leads out of the project (to {real}).",
            hint="Only files that lie in the project itself are edited.",
        )
    return split(os.path.relpath(real, base))


@contextmanager
def folder(root: Path | int, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder `parts` beneath `root` (path or descriptor), no link followed on the way.

    Raises OSError: ENOENT where it is absent, ELOOP or ENOTDIR where a link or a file stands in the way.
    """
    # The root itself may be reached by links: the person chose it.
    fd = os.dup(root) if isinstance(root, int) else os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in parts:
            if create:
                try:
                    os.mkdir(part, dir_fd=fd)
                except FileExistsError:
                    pass
            below = os.open(part, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def open_regular(at: int, name: str) -> int:
    """A descriptor to read the regular file `name` in folder `at`. OSError; UsageError for any other kind."""
    fd = os.open(name, _FILE, dir_fd=at)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise UsageError(
            f"{name} is not a regular file.", hint="Folders, devices, FIFOs and sockets are not edited."
        )
    return fd


def read(at: int, name: str, limit: int | None = None) -> tuple[bytes, os.stat_result] | None:
    """Bytes and status of the regular file `name` in folder `at`; None where nothing has that name.

    At most `limit` bytes are read. OSError; UsageError for anything but a regular file.
    """
    try:
        fd = open_regular(at, name)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(-1 if limit is None else limit), os.fstat(fd)
