"""Finds out which runner printed a text, and reads it."""

from __future__ import annotations

from pathlib import Path

from deskagent.repair.printed import cargo, golang, scripts, tap
from deskagent.repair.types import TestResult

_READERS = (tap.read, golang.read, cargo.read, scripts.read)


def read(lines: list[str], root: Path) -> tuple[TestResult, ...] | None:
    """The results of a run by one of the runners known here, None where it is another's. Paths below `root` become
    relative to it."""
    for reader in _READERS:
        results = reader(lines, root)
        if results is not None:
            return results
    return None
