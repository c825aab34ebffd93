"""Folders for a moment's files in the system's temporary folder, cleared away later where their process was killed.

Each is locked by the process that made it for as long as that lives; the system drops the lock however it ends. A
folder is given its name only when it is locked, so that one whose lock can be had is nobody's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_MINE = re.compile(r"deskagent-(?:new|output|probe|lines|temp)-[a-z0-9_]+")
_NEW = "deskagent-new-"
_UNNAMED_SECONDS = (
    60.0  # by then a folder has its name, or its process was killed before it could give it one
)
_held: dict[Path, int] = {}


def make(kind: str) -> Path:
    """A new private folder, real path. `kind` is output, probe, lines or temp; `drop` removes it. OSError."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=_NEW)))
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: then nothing is swept
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        named = folder.rename(folder.with_name(folder.name.replace(_NEW, f"deskagent-{kind}-", 1)))
    except BaseException:
        os.close(handle)
        raise
    _held[named] = handle
    return named


def drop(folder: Path) -> None:
    """Removes `folder`, also where a command took its own rights away; what can't be removed stays."""
    _remove(folder)
    handle = _held.pop(folder, None)
    if handle is not None:
        os.close(handle)


@contextlib.contextmanager
def folder(kind: str) -> Iterator[Path]:
    """`make` and `drop` as a context."""
    made = make(kind)
    try:
        yield made
    finally:
        drop(made)


def sweep() -> int:
    """Removes the folders of ended processes of this user; returns how many. Never a live one's."""
    try:
        found = [path for path in Path(tempfile.gettempdir()).iterdir() if _MINE.fullmatch(path.name)]
    except OSError:
        return 0
    return sum(map(_sweep, found))


def _sweep(folder: Path) -> bool:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            return False
        if folder.name.startswith(_NEW) and time.time() - status.st_mtime < _UNNAMED_SECONDS:
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(folder)
        return True
    except OSError:  # somebody's
        return False
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    for path, names, _, fd in os.fwalk(folder, follow_symlinks=False, onerror=None):
        for name in names:
            try:
                if stat.S_ISDIR(os.lstat(Path(path) / name).st_mode):
                    os.chmod(name, 0o700, dir_fd=fd)
            except OSError:
                continue
    shutil.rmtree(folder, ignore_errors=True)
