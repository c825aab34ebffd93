"""Follows a project on disk and keeps its index up to date.

One save is up to six events, and a checkout thousands; so the index is touched when the disk has been quiet for
a moment, or at the latest after a few. Files that the index knows are read alone; anything else that happened
(something new, gone or renamed, other ignore rules) is found by a refresh.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent.errors import DeskagentError
from deskagent.repo.indexing import Writer

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

_log = logging.getLogger(__name__)

_QUIET = 0.2  # seconds without an event
_LONGEST = 2.0  # seconds from the first event on
_RETRY = 1.0  # seconds, where another process holds the index
_MANY = 200  # more files than that at once are a checkout
_WRITES = {"created", "modified", "deleted", "moved"}
_PASSED_OVER = {".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv"}


class Follower:
    """Follows `root` from its making to `close()`, on threads of its own.

    OSError where the system has no watches left (Linux: fs.inotify.max_user_watches); the index is then brought
    up to date by `refresh` alone.
    """

    def __init__(self, root: Path) -> None:
        from watchdog.observers import Observer

        self._root = root.resolve()
        self._changed = threading.Condition()
        self._paths: set[str] = set()
        self._first = self._last = 0.0
        self._closing = False
        self.updates = 0
        """How often the index was touched so far."""
        self._observer = Observer()
        self._observer.schedule(_handler(self), os.fspath(self._root), recursive=True)
        self._observer.start()
        self._thread = threading.Thread(target=self._work, name="index-follower", daemon=True)
        self._thread.start()

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops following. What is being written is finished first."""
        self._observer.stop()
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._observer.join()
        self._thread.join()

    def dispatch(self, event: FileSystemEvent) -> None:
        """Takes an event from watchdog."""
        if event.event_type not in _WRITES or (event.is_directory and event.event_type == "modified"):
            return
        names = [name for path in (event.src_path, event.dest_path) if (name := self._name(path))]
        if not names:
            return
        with self._changed:
            self._last = time.monotonic()
            if not self._paths:
                self._first = self._last
            self._paths.update(names)
            self._changed.notify()

    def _name(self, path: bytes | str) -> str:
        """The project-relative name of a path; empty for what is never source."""
        name = os.path.relpath(os.fsdecode(path), self._root) if path else ""
        return "" if name.startswith("..") or not _PASSED_OVER.isdisjoint(Path(name).parts) else name

    def _work(self) -> None:
        with Writer(self._root) as writer:
            while (paths := self._wait()) is not None:
                try:
                    if len(paths) > _MANY or not writer.update(paths):
                        writer.refresh()
                except DeskagentError as error:
                    _log.info("the index waits: %s", error)
                    self._again(paths)
                else:
                    self.updates += 1

    def _wait(self) -> set[str] | None:
        """What changed, once it is quiet; None at the end."""
        with self._changed:
            while not self._closing:
                now = time.monotonic()
                due = min(self._last + _QUIET, self._first + _LONGEST) if self._paths else now + 3600.0
                if self._paths and now >= due:
                    paths, self._paths = self._paths, set()
                    return paths
                self._changed.wait(due - now)
            return None

    def _again(self, paths: set[str]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closing, _RETRY)
            self._first = self._last = time.monotonic()
            self._paths |= paths


def _handler(follower: Follower) -> FileSystemEventHandler:
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def dispatch(self, event: FileSystemEvent) -> None:
            follower.dispatch(event)

    return Handler()
