"""Whether an edit is the fix, as the syntax tree sees it; and the lists to choose from that are made with that."""

from __future__ import annotations

from collections.abc import Callable

from region import Region

from deskagent.repair.model.measure.choices import SIZE, fix_of, option
from deskagent.repair.model.measure.hunk import Hunk
from deskagent.repair.types import Candidate, Edit

_BESIDE = 3
"""Lines beside the hunk that a candidate of the same shape may edit instead."""
__all__ = ["SIZE", "difference", "fix_of", "is_fix", "option"]


def difference(path: str, before: bytes, after: bytes) -> Edit:
    """One edit of whole lines."""
    return Hunk.of(before, after).edit(path)


def is_fix(before: bytes, path: str, after: bytes) -> Callable[[Candidate], bool]:
    """Whether a candidate makes the same of a file as the fix does. Errors: SyntaxError, ValueError."""
    region = Region.of(before, after)
    hunk = Hunk.of(before, after)
    lines = before.splitlines(keepends=True)
    # what lies a line off can't be the same, and to compare trees takes most of the time
    least = hunk.start - sum(map(len, lines[max(0, hunk.first - _BESIDE) : hunk.first]))
    last = hunk.first + len(hunk.old)
    most = hunk.edit(path).end + sum(map(len, lines[last : last + _BESIDE]))

    def same(candidate: Candidate) -> bool:
        if any(e.path != path or e.start > most or e.end < least for e in candidate.edits):
            return False
        return region.shape(before, candidate.edits) == region.wanted

    return same
