"""Problems in a file, and which of them an edit brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 10
"""Problems of a file that are told."""


@dataclass(frozen=True, slots=True)
class Problem:
    """line: from 1. code: of the rule, "" where there is none. source: what found it."""

    line: int
    message: str
    code: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for the same problem at another line."""
        return (self.source, self.code, self.message)


def new(before: Sequence[Problem], after: Sequence[Problem], old: str, text: str) -> list[Problem]:
    """Those of `after` that weren't there before the edit that made `text` of `old`, in the order of their lines."""
    moved = _moved(old.split("\n"), text.split("\n"))
    stood = Counter((problem.key, moved(problem.line)) for problem in before)
    left = Counter(problem.key for problem in before)
    rest: list[Problem] = []
    for problem in sorted(after, key=lambda each: each.line):
        if stood[problem.key, problem.line] > 0:
            stood[problem.key, problem.line] -= 1
            left[problem.key] -= 1
        else:
            rest.append(problem)
    found = []
    for problem in rest:  # the same problem on a line that changed was there before too
        left[problem.key] -= 1
        if left[problem.key] < 0:
            found.append(problem)
    return found


def told(path: str, problems: Sequence[Problem]) -> str:
    lines = [
        f"{path}:{each.line}: {each.message}{f' ({each.source} {each.code})' if each.code else f' ({each.source})'}"
        for each in problems[:MOST]
    ]
    if len(problems) > MOST:
        lines.append(f"({len(problems) - MOST} more)")
    return "\n".join(lines)


def _moved(old: list[str], new: list[str]):
    """Where a line of the old text stands in the new; 0 for one in the part that changed."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n] != new[n]), most)
    tail = next((n for n in range(most - head) if old[-1 - n] != new[-1 - n]), most - head)

    def line(number: int) -> int:
        if number <= head:
            return number
        return number + len(new) - len(old) if number > len(old) - tail else 0

    return line
