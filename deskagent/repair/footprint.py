"""Notices when a test run has damaged the copy it ran in: a file of the project changed or gone."""

from __future__ import annotations

import os
import time
from pathlib import Path

_LEFT_OUT = {"__pycache__", ".git", ".hg", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache"}
_SHARE = 0.05  # of the time may go into looking


class Footprint:
    """Sizes and times of a tree's files as they were, less those that the tests change anyway."""

    def __init__(self, root: Path, shared: tuple[str, ...] = ()) -> None:
        self._root = root
        self._shared = frozenset(shared)
        self._before = self._look()
        self._next = 0.0

    def settle(self) -> None:
        """After a run of the unedited tests: what they changed is theirs to change."""
        now = self._look()
        self._before = {path: seen for path, seen in self._before.items() if now.get(path) == seen}

    def damaged(self) -> str:
        """A file that has changed or is gone, empty if none. Looks only so often that it costs little."""
        begun = time.monotonic()
        if begun < self._next:
            return ""
        now = self._look()
        end = time.monotonic()
        self._next = end + (end - begun) / _SHARE
        return next((path for path, seen in self._before.items() if now.get(path) != seen), "")

    def _look(self) -> dict[str, tuple[int, int, int]]:
        found: dict[str, tuple[int, int, int]] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(self._root / folder) as entries:
                    for entry in entries:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.name in _LEFT_OUT or path in self._shared:
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
                        else:
                            status = entry.stat(follow_symlinks=False)
                            found[path] = (status.st_size, status.st_mtime_ns, status.st_mode)
            except OSError:
                continue  # gone or closed to us: its files count as missing
        return found
