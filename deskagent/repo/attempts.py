"""Notes what is being parsed, so that content which ends the process isn't tried forever.

A grammar is foreign C code: a crash or a kill for memory takes the whole process. The note is written before
each parse and taken back after; one that is found at the start tells what the last process died of.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TRIES = 2
_BLANK = b" " * 48


class Attempts:
    """The notes of one process that writes the index in `folder`, whose lock it holds."""

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(
            folder / "attempt", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        self._deaths: dict[str, int] = {}
        key, _, count = (
            os.pread(self._handle, len(_BLANK), 0).decode("ascii", "replace").strip().partition(" ")
        )
        if count.isdecimal():
            self._deaths[key] = int(count)

    def close(self) -> None:
        os.close(self._handle)

    def given_up(self, digest: bytes) -> bool:
        """Whether this content ended the process before, twice."""
        return self._deaths.get(digest.hex(), 0) >= _TRIES

    @contextmanager
    def of(self, digest: bytes) -> Iterator[None]:
        """Around the parsing of some content."""
        key = digest.hex()
        os.pwrite(self._handle, f"{key} {self._deaths.get(key, 0) + 1}".encode().ljust(len(_BLANK)), 0)
        yield
        os.pwrite(self._handle, _BLANK, 0)
