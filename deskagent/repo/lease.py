"""Private folders that belong to one running process each, and are cleared away after it however it ended.

Every folder holds a file `owner` that its process keeps locked; the system drops the lock when the process
dies. A folder whose lock can be had is nobody's. A lock over all of them is held for the moments in which one
is made or judged, so that a folder is never seen between its making and its locking.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deskagent import paths
from deskagent.errors import TransientError
from deskagent.repo.removing import remove_tree

_log = logging.getLogger(__name__)

_DEAD = "dead-"


class Lease:
    """A private folder of this process."""

    def __init__(self, folder: Path, handle: int) -> None:
        self.folder = folder
        self._handle: int | None = handle

    def release(self) -> None:
        """Deletes the folder and lets go of it. What can't be deleted now is swept later."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        try:
            remove_tree(self.folder)
        except OSError as error:
            _log.warning("%s could not be deleted: %s; the next run tries again", self.folder, error)
        finally:
            os.close(handle)


def base_for(project: Path) -> Path:
    """Where scratch folders of `project` belong: on its own file system if we have a place there.

    The cache folder comes before /tmp, where other people could put a `pytest.ini` above the copy.
    """
    device = project.stat().st_dev
    cache = _usable(paths.cache_dir() / "scratch")
    # A folder of ours would stay in a TMPDIR that lies in the project.
    inside = Path(tempfile.gettempdir()).resolve().is_relative_to(project.resolve())
    if cache and (inside or cache.stat().st_dev == device):
        return cache
    tmp = _shared_tmp()
    places = [place for place in (cache, tmp) if place]
    if not places:
        raise TransientError(
            f"No place for scratch copies: {paths.cache_dir()} and {tempfile.gettempdir()} are not writable.",
            hint="Set TMPDIR or DESKAGENT_HOME to a folder of yours.",
        )
    return next((place for place in places if place.stat().st_dev == device), places[0])


def _usable(folder: Path) -> Path | None:
    """`folder`, made if absent, if it is ours, private and writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return None
        if status.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        _log.info("no scratch copies below %s: %s", folder, error)
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def _shared_tmp() -> Path | None:
    return _usable(Path(tempfile.gettempdir()) / f"deskagent-{os.geteuid()}")


def claim(base: Path) -> Lease:
    """A new empty folder in `base`, held until released or until this process ends. TransientError."""
    try:
        with _all(base):
            folder = Path(tempfile.mkdtemp(prefix="", dir=base))
            handle = os.open(folder / "owner", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise _no_room(base, error) from error
    lease = Lease(folder, handle)
    try:
        os.write(handle, f"{os.getpid()}\n".encode())
    except OSError as error:
        lease.release()
        raise _no_room(base, error) from error
    return lease


def _no_room(base: Path, error: OSError) -> TransientError:
    return TransientError(
        f"No scratch folder could be made in {base}: {error.strerror}.",
        hint="Free some space, or set TMPDIR or DESKAGENT_HOME to a disk that has it.",
    )


def sweep(base: Path) -> int:
    """Deletes the folders in `base` whose process is gone; returns how many. Never another live run's."""
    try:
        with _all(base):
            orphaned = [folder for folder in sorted(base.iterdir()) if folder.is_dir() and _orphaned(folder)]
            dead = [buried for folder in orphaned if (buried := _bury(folder)) is not None]
    except OSError as error:
        raise _no_room(base, error) from error
    if dead:
        _log.info("%d scratch copies of ended runs are deleted", len(dead))
    for folder in dead:
        try:
            remove_tree(folder)
        except OSError as error:
            _log.warning("%s could not be deleted: %s", folder, error)
    return len(dead)


def _orphaned(folder: Path) -> bool:
    if folder.name.startswith(_DEAD):
        return True
    try:
        handle = os.open(folder / "owner", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True  # killed between making and locking, or while it was deleting
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            _log.warning("%s: its lock can't be read: %s", folder, error)
        return False
    finally:
        os.close(handle)
    return True


def _bury(folder: Path) -> Path | None:
    """The folder under a name that says that it is nobody's; None if its owner, who deletes it without our lock,
    was done with that first."""
    if folder.name.startswith(_DEAD):
        return folder
    try:
        return folder.rename(folder.with_name(f"{_DEAD}{secrets.token_hex(8)}"))
    except FileNotFoundError:
        return None


@contextmanager
def _all(base: Path) -> Iterator[None]:
    handle = os.open(base / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
