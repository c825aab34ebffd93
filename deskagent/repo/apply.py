"""Writes a patch into the real tree: all of it or nothing, and only over what it was made for.

Every file is written whole beside its place, synced, and then changes places with the original in one step
(RENAME_EXCHANGE). So a kill at any point leaves each file as before or as after, never between; what somebody
saved in the last instant is noticed, since it comes out of the exchange, and is put back; and a roll-back
gives back the very same file. Mode, owner and extended attributes are those of the original. The file is a
new one for hard links: the other name keeps the old contents, because a sandboxed test could have linked a
file that lies elsewhere into the project, and writing in place would go through.

The caller keeps the contents before and after (a journal's intent) and asks `recover` after a crash.
"""

from __future__ import annotations

import contextlib
import ctypes
import difflib
import errno
import hashlib
import logging
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NoReturn

from deskagent.errors import TransientError, UsageError
from deskagent.repo import beneath

_log = logging.getLogger(__name__)

Patch = Mapping[str, tuple[bytes | None, bytes | None]]
"""Project-relative POSIX path → contents before and after; None where there is no file."""

_PASSING = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.EBUSY,
    errno.ETXTBSY,
    errno.EAGAIN,
}
_RENAME_EXCHANGE = 2
_DIFF_LINES = 200
_NO_EXCHANGE = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


class ConflictError(UsageError):
    """A file is no longer what the patch was made for. `diff` shows how it differs from that."""

    def __init__(self, message: str, *, diff: str) -> None:
        super().__init__(f"{message}\n{diff}".rstrip(), hint="Nothing was changed. Run the command again.")
        self.diff = diff


class State(StrEnum):
    """What a file of a patch holds."""

    BEFORE = "before"
    AFTER = "after"
    OTHER = "other"


@dataclass
class _Target:
    """One file on its way: where it lies, and what was done to it so far."""

    name: str
    folder: int
    leaf: str
    before: bytes | None
    after: bytes | None
    status: os.stat_result | None = None
    temporary: str = ""
    inode: int | None = None  # of the new file

    def inode_of(self, name: str) -> int | None:
        """What `name` in the folder is now: state is looked up, not kept, so that no signal can come
        between."""
        try:
            return os.stat(name, dir_fd=self.folder, follow_symlinks=False).st_ino
        except FileNotFoundError:
            return None


def apply(project: Path, changes: Patch) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Applies `changes` to the files of `project` and returns the patch that undoes it.

    Folders for new files must exist. ConflictError (with a diff) where a file isn't as `before` says;
    UsageError for links that lead out, special, read-only and foreign files; TransientError for a full disk
    and the like. After any of them the tree is as it was.
    """
    with contextlib.ExitStack() as stack:
        targets = [_open(stack, project, name, *pair) for name, pair in sorted(changes.items())]
        try:
            for target in targets:
                _check(target)
            for target in targets:
                _write_beside(target)
            for target in targets:
                _change_places(target)
        except BaseException as error:
            _roll_back(targets)
            if isinstance(error, OSError):
                _explain(error, project)
            raise
        for target in targets:
            _finish(target)
    return {name: (after, before) for name, (before, after) in changes.items()}


def check(project: Path, changes: Patch) -> None:
    """Raises what `apply` would raise for the tree as it is now, and changes nothing."""
    with contextlib.ExitStack() as stack:
        try:
            for name, pair in sorted(changes.items()):
                _check(_open(stack, project, name, *pair))
        except OSError as error:
            _explain(error, project)


def recover(project: Path, changes: Patch) -> dict[str, State]:
    """What each file of a patch holds now, after an `apply` that may have been cut off.

    Files that were written beside their place are cleared away. UsageError as `apply` raises it.
    """
    found: dict[str, State] = {}
    for name, (before, after) in changes.items():
        with contextlib.ExitStack() as stack:
            target = _open(stack, project, name, before, after)
            try:
                _clear_away(target)
                current = _current(target)
            except OSError as error:
                _explain(error, project / name)
            data = current[0] if current else None
            found[name] = State.AFTER if data == after else State.BEFORE if data == before else State.OTHER
    return found


def _clear_away(target: _Target) -> None:
    """Removes what lies beside the file; first gives it back if somebody's own save had come out."""
    name = _temporary(target)
    if target.inode_of(name) is None:
        return
    current = _current(target)
    if current and current[0] == target.after:
        aside = beneath.read(target.folder, name)
        if aside and aside[0] not in (target.before, target.after):
            _exchange(target.folder, name, target.leaf)
    _remove(target.folder, name)


def _open(
    stack: contextlib.ExitStack, project: Path, name: str, before: bytes | None, after: bytes | None
) -> _Target:
    *folders, leaf = beneath.resolve(project, name)
    try:
        folder = stack.enter_context(beneath.folder(project, tuple(folders)))
    except OSError as error:
        _explain(error, project / name)
    return _Target(name, folder, leaf, before, after)


def _current(target: _Target) -> tuple[bytes, os.stat_result] | None:
    try:
        return beneath.read(target.folder, target.leaf)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError(
                f"{target.name} has become a symbolic link.", hint="Nothing was changed."
            ) from None
        raise


def _check(target: _Target) -> None:
    current = _current(target)
    data = current[0] if current else None
    if data != target.before:
        raise _conflict(target, data)
    if not current:
        return
    target.status = current[1]
    if not target.status.st_mode & 0o222:
        raise UsageError(f"{target.name} is read-only.", hint=f"Allow it first: chmod u+w {target.name}")
    if os.geteuid() not in (0, target.status.st_uid):
        raise UsageError(
            f"{target.name} belongs to another user, and a new file would be yours.",
            hint="Run deskagent as its owner, or copy the project.",
        )


def _conflict(target: _Target, data: bytes | None) -> ConflictError:
    def lines(content: bytes | None) -> list[str]:
        return (content or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True)

    what = "is gone" if data is None else "has changed" if target.before is not None else "exists by now"
    diff = difflib.unified_diff(lines(target.before), lines(data), "as it was read", "as it is now")
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff]
    if len(shown) > _DIFF_LINES:
        shown[_DIFF_LINES:] = [f"… {len(shown) - _DIFF_LINES} more lines\n"]
    return ConflictError(f"{target.name} {what} since it was read.", diff="".join(shown))


def _temporary(target: _Target) -> str:
    """The name that a file is written under beside its place: the same after a crash, and no other
    patch's."""
    digest = hashlib.sha256(b"\0".join((os.fsencode(target.leaf), target.before or b"", target.after or b"")))
    return f".deskagent-{digest.hexdigest()[:24]}.tmp"


def _write_beside(target: _Target) -> None:
    target.temporary = _temporary(target)
    if target.after is None:
        return
    _remove(target.folder, target.temporary)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(target.temporary, flags, 0o666 if target.status is None else 0o600, dir_fd=target.folder)
    with os.fdopen(fd, "wb") as file:
        target.inode = os.fstat(fd).st_ino
        file.write(target.after)
        file.flush()
        if target.status is not None:
            _take_after(fd, target)
        os.fsync(fd)


def _take_after(fd: int, target: _Target) -> None:
    """Gives the new file the owner, attributes and mode of the old one."""
    assert target.status is not None
    own = os.fstat(fd)
    if (own.st_uid, own.st_gid) != (target.status.st_uid, target.status.st_gid):
        os.chown(fd, target.status.st_uid, target.status.st_gid)
    original = beneath.open_regular(target.folder, target.leaf)
    try:
        for name in os.listxattr(original):
            value = os.getxattr(original, name)
            try:
                os.setxattr(fd, name, value)
            except PermissionError:
                if not name.startswith(("security.", "trusted.")):  # the system's own to give
                    raise
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENODATA):
            raise
    finally:
        os.close(original)
    os.fchmod(fd, stat.S_IMODE(target.status.st_mode))


def _change_places(target: _Target) -> None:
    at = target.folder
    if target.before is None and target.after is None:
        return
    if target.before is None:
        try:
            os.link(target.temporary, target.leaf, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
        except FileExistsError:
            raise _conflict(target, (_current(target) or (None,))[0]) from None
    else:
        if target.after is None:
            os.rename(target.leaf, target.temporary, src_dir_fd=at, dst_dir_fd=at)
        else:
            _swap(target)
        if target.inode_of(target.temporary) is not None:
            _check_what_came_out(target)
    os.fsync(at)


def _swap(target: _Target) -> None:
    try:
        _exchange(target.folder, target.temporary, target.leaf)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
        # A file system that can't exchange (NFS, some FUSE): the last look is as late as can be.
        _check(target)
        os.rename(target.temporary, target.leaf, src_dir_fd=target.folder, dst_dir_fd=target.folder)


def _check_what_came_out(target: _Target) -> None:
    """Somebody may have saved the file between the check and the exchange: then theirs goes back."""
    try:
        came_out = beneath.read(target.folder, target.temporary)
    except UsageError:  # they put a folder there
        came_out = None
    except OSError as error:
        if error.errno != errno.ELOOP:  # or a link
            raise
        came_out = None
    data = came_out[0] if came_out else None
    if data != target.before:
        raise _conflict(target, data)


def _roll_back(targets: list[_Target]) -> None:
    for target in reversed(targets):
        if not target.temporary:
            continue
        at, aside, placed = target.folder, target.inode_of(target.temporary), target.inode_of(target.leaf)
        if target.after is None:
            if placed is None and aside is not None:
                os.rename(target.temporary, target.leaf, src_dir_fd=at, dst_dir_fd=at)
        elif placed is not None and placed == target.inode:
            if target.before is None:
                _remove(at, target.leaf)
            elif aside is not None:
                _exchange(at, target.temporary, target.leaf)
            else:
                _rewrite(target)
        if aside is not None:
            _remove(at, target.temporary)
        with contextlib.suppress(OSError):  # the roll-back itself is done; that it is on disk can't be forced
            os.fsync(at)


def _rewrite(target: _Target) -> None:
    """Brings the old contents back where the old file itself is gone."""
    assert target.status is not None and target.before is not None
    fd = os.open(target.leaf, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=target.folder)
    with os.fdopen(fd, "wb") as file:
        file.write(target.before)
        file.flush()
        os.utime(fd, ns=(target.status.st_atime_ns, target.status.st_mtime_ns))
        os.fsync(fd)


def _finish(target: _Target) -> None:
    """Lets go of the original. The patch is applied by now, whatever happens here."""
    try:
        _remove(target.folder, target.temporary)
    except OSError as error:
        _log.warning("%s stays beside %s: %s", target.temporary, target.name, error)


def _remove(at: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)


def _exchange(at: int, one: str, other: str) -> None:
    """Two names of one folder change places in one step. OSError; EINVAL or ENOSYS where that can't be
    done."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if rename(at, os.fsencode(one), at, os.fsencode(other), _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), other)


def _explain(error: OSError, where: Path) -> NoReturn:
    reason = error.strerror or str(error)
    if error.errno in _PASSING:
        raise TransientError(
            f"The patch could not be written to {where}: {reason}. Nothing was changed.",
            hint="Free some space or wait, then try again.",
        ) from error
    raise UsageError(
        f"The patch can't be written to {where}: {reason}. Nothing was changed.",
        hint="Is the folder writable for you, and not mounted read-only?",
    ) from error
