"""Brings an index up to date in a process of its own: nice'd, alone, and still at work when the command that
started it has ended.

It is our own code that reads files and writes the cache, so it needs no sandbox and no supervisor, and must not
end with whoever started it. The process forks a child for the work, and another if a grammar took that one down;
what did so is left out after a second time (see `attempts`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.repo import store

_NICE = 15
_CHILDREN = 12


def start(root: Path) -> bool:
    """Starts a builder for `root` and returns at once; False if one is at work already."""
    if store.is_locked(store.folder_of(root)):
        return False
    process = subprocess.Popen(
        # -P: what lies in the current folder is never imported.
        [sys.executable, "-P", "-m", "deskagent.repo.background", os.fspath(root)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    threading.Thread(target=process.wait, name="index-builder", daemon=True).start()  # leaves no zombie
    return True


def main(root: Path) -> int:
    """Works until the index is up to date. 0, or 1 where that failed or another process is at it."""
    os.nice(_NICE)
    for _ in range(_CHILDREN):
        child = os.fork()
        if child == 0:
            os._exit(_work(root))
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return os.waitstatus_to_exitcode(status)
    return 1


def _work(root: Path) -> int:
    from deskagent.repo.indexing import Writer

    try:
        with Writer(root) as writer:
            writer.refresh()
    except DeskagentError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
