"""Sizes and times of files, by which it is seen that one has changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

Stats = dict[str, tuple[int, int, int]]
"""Path → size, time and number of the file; without those that aren't plain files, or aren't there."""


def stats(root: Path, paths: Iterable[str]) -> Stats:
    """Of the files in `root` at these relative paths."""
    found: Stats = {}
    for path in paths:
        try:
            status = os.lstat(root / path)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            found[path] = status.st_size, status.st_mtime_ns, status.st_ino
    return found
