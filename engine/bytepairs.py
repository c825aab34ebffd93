"""Byte-pair encoding by ranks, as tiktoken defines it: of all neighbours the pair of lowest rank is merged first."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from functools import lru_cache

_REMEMBERED = 1 << 16
_SHORT = 64
"""Bytes; longer pieces hardly come twice."""


class BytePairs:
    """ranks: word → id, the lower the earlier merged; every single byte is in it. split: cuts a text into pieces that
    are encoded each by itself."""

    def __init__(self, ranks: dict[bytes, int], split: Callable[[str], list[str]]) -> None:
        self._ranks, self._split = ranks, split
        self._remembered = lru_cache(_REMEMBERED)(self._merge)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in self._split(text):
            raw = piece.encode()
            ids += self._remembered(raw) if len(raw) <= _SHORT else self._merge(raw)
        return ids

    def _merge(self, piece: bytes) -> tuple[int, ...]:
        """Time: n log n in the bytes of a piece, which may be a whole file without a blank."""
        ranks = self._ranks
        whole = ranks.get(piece)
        if whole is not None:
            return (whole,)
        size = len(piece)
        end = list(range(1, size + 1))
        """End of the part that starts here; 0 where none starts."""
        start = list(range(-1, size))
        """Start of the part that ends here."""
        heap = [
            (rank, at, at + 2)
            for at in range(size - 1)
            if (rank := ranks.get(piece[at : at + 2])) is not None
        ]
        heapq.heapify(heap)

        def offer(at: int) -> None:
            middle = end[at]
            if middle < size and (rank := ranks.get(piece[at : end[middle]])) is not None:
                heapq.heappush(heap, (rank, at, end[middle]))

        while heap:
            _, at, last = heapq.heappop(heap)
            middle = end[at]
            if not middle or middle >= last or end[middle] != last:
                continue  # one of the two was merged into something else meanwhile
            end[at], end[middle], start[last] = last, 0, at
            offer(at)
            if at:
                offer(start[at])
        ids, at = [], 0
        while at < size:
            ids.append(ranks[piece[at : end[at]]])
            at = end[at]
        return tuple(ids)
