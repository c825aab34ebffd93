"""One writing run a folder: an advisory lock that the system drops when the process ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from deskagent import paths
from deskagent.errors import TransientError, UsageError
from deskagent.repair.places import matches
from deskagent.repo import git
from deskagent.repo.walk import walk
from deskagent.session.files import storage_errors


@contextlib.contextmanager
def workspace_lock(folder: Path) -> Iterator[None]:
    """Holds the lock of `folder`. TransientError with the holder's process id if another run has it."""
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:24]
    target = paths.data_dir() / "locks" / f"{name}.lock"
    with storage_errors("lock the folder", target):
        paths.private_dir(target.parent)
        handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 32).decode("ascii", "replace").strip() or "unknown"
            raise TransientError(
                f"Another run (process {holder}) is working on {folder}.",
                hint="Wait for it to end, or use --no-apply, which needs no lock.",
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def project_root(start: Path) -> Path:
    """The root of the git work tree that holds `start`, else `start` itself. UsageError for `/` and the home
    folder, which nobody means to have copied and searched."""
    root = git.root(start) or start.resolve()
    if root == Path(root.anchor) or root == Path.home().resolve():
        raise UsageError(
            f"{root} is not a project folder.",
            hint="Start deskagent inside the folder of the program to repair.",
        )
    return root


def check_globs(project: Path, globs: Sequence[str]) -> None:
    """UsageError for a glob of files to edit that no file in `project` fits, ignored ones included."""
    known = walk(project).files if globs else ()
    for glob in globs:
        if not any(matches(path, [glob]) for path in known) and not _found(project, glob):
            raise UsageError(
                f"No file in {project} fits --files {glob!r}.",
                hint="Give a path, a folder or a glob as seen from there; quote it, or the shell expands it.",
            )


def _found(project: Path, glob: str) -> bool:
    try:
        return ".." not in Path(glob).parts and next(project.glob(glob), None) is not None
    except (ValueError, NotImplementedError, OSError):  # empty, absolute, no pattern at all, unreadable
        return False
