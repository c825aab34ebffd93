"""The hunk between two versions of a file: the whole lines from the first to the last that differ."""

from __future__ import annotations

from dataclasses import dataclass

from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Edit, Suspect

MOST_LINES = 6
"""An insertion of more isn't one that an edit is expected to make."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """first: the row, from 0, where it begins. old, new: lines with their ends, before and after; one of them at least
    is not empty, unless the versions are equal. start: where it begins in bytes."""

    first: int
    start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]

    @classmethod
    def of(cls, before: bytes, after: bytes) -> Hunk:
        one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
        least = min(len(one), len(other))
        first = next((i for i in range(least) if one[i] != other[i]), least)
        most = least - first
        last = next((i for i in range(most) if one[-1 - i] != other[-1 - i]), most)
        old, new = one[first : len(one) - last], other[first : len(other) - last]
        return cls(first, sum(map(len, one[:first])), tuple(old), tuple(new))

    def edit(self, path: str) -> Edit:
        """It as one edit of whole lines."""
        end = self.start + sum(map(len, self.old))
        return Edit(path, self.start, end, b"".join(self.new).decode("utf-8", "replace"))

    @property
    def line(self) -> int:
        """The 1-based line that it begins with, or that it is put in before."""
        return self.first + 1

    @property
    def kind(self) -> str | None:
        """`replacement` of one line by one, `insertion` of some; None for any other."""
        if len(self.old) == len(self.new) == 1:
            return "replacement"
        return "insertion" if not self.old and 0 < len(self.new) <= MOST_LINES else None

    def places(self, syntax: Syntax) -> list[int]:
        """Lines of the statements that it changes, or stands beside: four at most."""
        last = self.first + len(self.old)
        lines = range(self.first + 1, last + 1) if self.old else range(self.first, self.first + 2)
        found = dict.fromkeys(node.line for line in lines if (node := syntax.by_line.get(line)) is not None)
        return list(found)[:4]


def near(syntax: Syntax, line: int, around: int = 12) -> list[Suspect]:
    """The statements within so many lines, of the outermost function around the line where there is one: all equally
    suspicious."""
    node = syntax.by_line.get(line)
    outer = function = syntax.function_of(node) if node is not None else None
    while function is not None:
        outer = function
        function = syntax.function_of(function.parent) if function.parent is not None else None
    first, last = (outer.row + 1, outer.end_row + 1) if outer is not None else (1, len(syntax.starts))
    rows = range(max(first, line - around), min(last, line + around) + 1)
    found = dict.fromkeys(syntax.by_line[row].line for row in rows if row in syntax.by_line)
    return [Suspect(syntax.source.path, row, 1.0) for row in found]
