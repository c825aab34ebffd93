"""Empty folders that stand where a protected path is absent, so that a read-only mount can lie over them.

Without one, nothing keeps a sandboxed command from making `.vscode` or `.git` where there was none. They go
when the last command that needed them is gone; until then every such command holds a shared lock on the
folder above, so that two runs in one workspace don't take each other's away. After a `kill -9` they stay
until the next command there: an empty folder, which git doesn't see, with a mode by which it is known.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from deskagent.terminal.sandbox.base import SandboxError

_MODE = 0o500
_LOCK_SECONDS = 2.0
_CANNOT = (errno.EACCES, errno.EPERM, errno.EROFS)  # then the command can't make anything there either


class Placeholders:
    """The placeholders of one command below one writable folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._made: set[Path] = set()
        self._lock = -1

    def add(self, path: Path) -> bool:
        """Makes sure that `path`, which is absent or a placeholder, is there; False where nobody can make it.

        Raises SandboxError where the disk is full or the folder is locked for good.
        """
        try:
            if self._lock < 0:
                self._lock = _locked(self._root)
            path.mkdir(mode=_MODE)
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno in _CANNOT:
                return False
            raise SandboxError(
                f"{path} is absent and can't be protected: {error.strerror}.",
                hint="Free space, or use a copy.",
            ) from error
        self._made.add(path)
        return True

    def remove(self) -> None:
        """Gives the lock back and removes the placeholders unless another command still needs them."""
        if self._lock < 0:
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # in use: whoever is last removes them
            pass
        else:
            _remove(self._made)
        finally:
            os.close(self._lock)
            self._lock = -1


def is_placeholder(path: Path) -> bool:
    """Whether `path` is one of ours: an empty folder of this user with just our mode."""
    try:
        found = path.lstat()
        if (
            not stat.S_ISDIR(found.st_mode)
            or stat.S_IMODE(found.st_mode) != _MODE
            or found.st_uid != os.geteuid()
        ):
            return False
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        if is_placeholder(path):
            try:
                path.rmdir()
            except OSError:  # somebody just put something into it: theirs now
                continue


def _locked(folder: Path) -> int:
    """A descriptor of `folder` with a shared lock on it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return fd
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(fd)
                raise SandboxError(f"{folder} is locked.", hint="Is another program holding it?") from None
            time.sleep(0.01)
        except OSError:
            os.close(fd)
            raise
