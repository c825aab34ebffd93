"""Deletes a folder whatever the modes in it, however deep it is."""

# ruff: noqa: PTH101

from __future__ import annotations

import errno
import itertools
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

_ROUNDS = 20  # whoever else deletes the tree, or still writes to it, makes more than one needed


def remove_tree(path: Path) -> None:
    """Deletes the folder `path`, also when folders in it are read-only or mode 000, never following a link.

    Sub-folders are first moved up into `path` and then emptied one after another, so depth costs neither
    descriptors nor recursion nor long paths. Two may delete the same tree at once. OSError where something
    can't be deleted; what could be is gone then.
    """
    try:
        top = _open(str(path), None)
    except FileNotFoundError:
        return
    try:
        unique = (f"{secrets.token_hex(6)}-{n}" for n in itertools.count())
        for _ in range(_ROUNDS):
            waiting = _empty(top, top, unique)
            while waiting:
                name = waiting.pop()
                try:
                    at = _open(name, top)
                except FileNotFoundError:
                    continue
                try:
                    waiting += _empty(at, top, unique)
                finally:
                    os.close(at)
                _quietly(os.rmdir, name, top)
            try:
                path.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:
                    raise
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(path))
    finally:
        os.close(top)


def _open(name: str, at: int | None) -> int:
    """A descriptor of a folder that we may list and change from now on."""
    # O_PATH opens a folder of any mode, and chmod through /proc then names this very folder and no other.
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)
        return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(handle)


def _empty(at: int, top: int, unique: Iterator[str]) -> list[str]:
    """Unlinks the files in `at`, moves its folders to `top` under fresh names and returns those."""
    moved: list[str] = []
    with os.scandir(at) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            _quietly(os.unlink, name, at)
            continue
        try:
            if at == top:  # its name stays, so that two who delete the tree find the same
                fresh = name
            else:
                os.close(_open(name, at))  # moving a folder changes its `..`, so it must be writable
                fresh = next(unique)
                os.rename(name, fresh, src_dir_fd=at, dst_dir_fd=top)
        except FileNotFoundError:
            continue
        moved.append(fresh)
    return moved


def _quietly(call: Callable[..., None], name: str, at: int) -> None:
    """Deletes one entry, or leaves it to the next round where somebody else was faster, or is still at it."""
    try:
        call(name, dir_fd=at)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise
