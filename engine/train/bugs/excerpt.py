"""What is shown of a file: the part or a piece of it, what stands around, and what it needs to be understood."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from engine.train.bugs.parts import Part

_LINES = 60
_A_LINE = 4
"""Characters that a line's number and end count for."""
_SHORTEST, _AROUND = 0.35, 12
_HEADED = 0.4
"""Share of excerpts that have the class's head and imports above them."""
_IMPORTS = 5
_IMPORT = re.compile(r"(?:from [.\w]+ )?import ([^#(\\]+)$")
_CLASS = re.compile(r"([ \t]*)class \w+.*:")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """shown: lines of the file, with a bug. meant: the same without."""

    shown: str
    meant: str


def excerpt(part: Part, text: str, rng: random.Random, most: int) -> Excerpt | None:
    """The part, whose text became `text`, cut at random to `most` characters at most, numbers included.

    None where what differs is longer.
    """
    old, new = part.lines[part.first : part.last], text.split("\n")
    same = _same(old, new)
    behind = _same(old[::-1], new[::-1])
    behind = min(behind, len(old) - same, len(new) - same)
    if old == new:
        # nothing differs: any line may be the one that has to be seen
        same = rng.randrange(len(old))
        behind = len(old) - same - 1
    room = int(most * rng.uniform(_SHORTEST, 1)) if rng.random() < 0.3 else most
    needed = max(_size(old[same : len(old) - behind]), _size(new[same : len(new) - behind]))
    if needed > room:
        return None
    first, last = _grown(old, same, len(old) - behind, room - needed, rng)
    start, end = part.first + first, part.first + last
    room -= needed + _size(old[first:same]) + _size(old[len(old) - behind : last])
    around = rng.randint(0, _AROUND) if rng.random() < 0.8 else 0
    low, high = start, end
    if first == 0 and last == len(old):
        low, high = _grown(part.lines, start, end, min(room, around * 40), rng)
        room -= _size(part.lines[low:start]) + _size(part.lines[end:high])
    above = _above(part, low, room) if rng.random() < _HEADED else []
    before, after = [*above, *part.lines[low:start]], part.lines[end:high]
    return Excerpt(
        "\n".join([*before, *new[first : len(new) - (len(old) - last)], *after]),
        "\n".join([*before, *old[first:last], *after]),
    )


def _grown(lines: list[str], first: int, last: int, room: int, rng: random.Random) -> tuple[int, int]:
    """[first, last) with lines added on either side, as many as there is room for, in shares at random."""
    share = rng.random()
    before, after = room * share, room * (1 - share)
    # what one side leaves, the other takes
    for _ in range(2):
        while first and before >= len(lines[first - 1]) + _A_LINE and last - first < _LINES:
            first -= 1
            before -= len(lines[first]) + _A_LINE
        while last < len(lines) and after >= len(lines[last]) + _A_LINE and last - first < _LINES:
            after -= len(lines[last]) + _A_LINE
            last += 1
        if not first:
            after, before = after + before, 0
        elif last == len(lines):
            before, after = after + before, 0
    return first, last


def _above(part: Part, start: int, room: int) -> list[str]:
    """The heads of the class around a part and of the part, where it is cut, and imports of names that it has."""
    lines: list[str] = []
    words = set(_WORDS.findall(part.text))
    for line in part.lines[: min(start, 80)]:
        found = _IMPORT.match(line)
        if found and words & set(_WORDS.findall(found[1])) and len(lines) < _IMPORTS:
            lines.append(line)
    if part.level:
        for row in range(min(start, part.first) - 1, -1, -1):
            head = _CLASS.match(part.lines[row])
            if head and len(head[1]) < part.level:
                lines.append(part.lines[row])
                break
    head = part.lines[part.first]
    if start > part.first and head.endswith(":"):
        lines.append(head)
    while lines and _size(lines) > room:
        lines.pop(0)
    return lines


def _same(one: list[str], two: list[str]) -> int:
    number = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        number += 1
    return number


def _size(lines: list[str]) -> int:
    return sum(len(line) + _A_LINE for line in lines)
