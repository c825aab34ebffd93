"""Room for a layer's experts under their own numbers, of which only those in use take memory.

A stack [E, …] is reserved as addresses; the system gives a page memory when it is first written and takes it back when
told. So kernels see the very tensors that they see when all is resident, under the same numbers, and sum in the same
order: the bits can't differ.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.weights.header import Entry

_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


class Arena:
    """One part of a layer's experts. entries: where each one lies on disk; all of one shape and type."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.each = entries[0].bytes
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
        self._memory = mmap.mmap(-1, max(len(entries) * self.each, 1), flags=flags)
        if hasattr(mmap, "MADV_NOHUGEPAGE"):  # a huge page would keep its neighbours' memory
            self._memory.madvise(mmap.MADV_NOHUGEPAGE)
        raw = torch.frombuffer(self._memory, dtype=torch.uint8)[: len(entries) * self.each]
        self.stack: Tensor = raw.view(entries[0].dtype).reshape(len(entries), *entries[0].shape)
        """[E, …]; of an expert that isn't there, the numbers mean nothing."""

    def fill(self, expert: int) -> int:
        """Reads an expert from disk. Gives its bytes. Errors: CheckpointError where that can't be, or not wholly."""
        entry, at = self._entries[expert], expert * self.each
        into = memoryview(self._memory)[at : at + self.each]
        done = 0
        try:
            with entry.file.open("rb", buffering=0) as file:
                while done < self.each:
                    got = os.preadv(file.fileno(), [into[done:]], entry.start + done)
                    if not got:
                        raise CheckpointError(f"{entry.file}: it was cut short while in use; fetch it again")
                    done += got
        except OSError as error:
            raise CheckpointError(f"{entry.file}: it can't be read any more: {error.strerror}") from error
        return self.each

    def drop(self, expert: int) -> None:
        """Gives the memory back of all pages that are this expert's alone."""
        at = expert * self.each
        first = -(-at // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (at + self.each) // mmap.PAGESIZE * mmap.PAGESIZE - first
        if length > 0:
            self._memory.madvise(mmap.MADV_DONTNEED, first, length)
