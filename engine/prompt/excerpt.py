"""Which lines of a file a question shows of a place: one rule for what teaches a checkpoint and what asks it."""

from __future__ import annotations

from collections.abc import Sequence

MOST_LINES, MOST_LETTERS = 60, 1_700
"""Of an excerpt, letters in bytes; a line counts for `_A_LINE` letters more than it has."""
_A_LINE = 4
BLOCK = 12
"""Where a function is longer, or there is none, so many lines share an excerpt, which is what stands around them."""


def rows(starts: Sequence[int], row: int, functions: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Rows [first, last) that are shown of a row: the outermost function that is short enough, else some lines.

    starts: where each row begins in the file, in bytes, and where the last one ends. functions: rows [first, last) of
    those around the row, decorators included, the innermost first.
    """
    fitting = [each for each in functions if _fits(starts, *each)]
    if fitting:
        return fitting[-1]
    return _around(starts, row, *(functions[0] if functions else (0, len(starts) - 1)))


def _around(starts: Sequence[int], row: int, top: int, bottom: int) -> tuple[int, int]:
    """What is shown of a row in [top, bottom): its block of lines, grown on both sides by turns."""
    first = top + (row - top) // BLOCK * BLOCK
    last = min(bottom, first + BLOCK)
    while True:
        before = first, last
        if first > top and _fits(starts, first - 1, last):
            first -= 1
        if last < bottom and _fits(starts, first, last + 1):
            last += 1
        if (first, last) == before:
            return before


def _fits(starts: Sequence[int], first: int, last: int) -> bool:
    count = last - first
    return count <= MOST_LINES and starts[last] - starts[first] + _A_LINE * count <= MOST_LETTERS
