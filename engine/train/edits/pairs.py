"""Functions that one release of a package has otherwise than the one before, in one place of a few lines.

Functions are found by their heads and indentation: to parse all files of all releases would take hours.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.train.bugs.excerpt import excerpt
from engine.train.bugs.guess import names
from engine.train.bugs.parts import HEAD, Part, decorated, end
from engine.train.edits.wheel import Wheel

MOST_LINES = 5
"""Of the place, before as after."""
_LONGEST = 400
"""Lines of a function."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A function of a release, and of the one before. name: with its classes. before, after: its text. shown, meant:
    what a question shows of it, before and after. strange: names that the change brings in and that stand nowhere in
    the file before."""

    package: str
    path: str
    release: str
    name: str
    before: str
    after: str
    shown: str
    meant: str
    strange: int


@dataclass(frozen=True, slots=True)
class _Found:
    """level: columns before its head. start: of that in the file. text: to the next head that is no further in."""

    level: int
    start: int
    text: str


def pairs(package: str, release: str, before: Wheel, after: Wheel) -> Iterator[Pair]:
    for path in sorted(before.files.keys() & after.files.keys()):
        if before.files[path] != after.files[path]:
            old, new = before.text(path), after.text(path)
            if old is not None and new is not None:
                yield from _of_file(package, path, release, old, new)


def functions(text: str) -> Mapping[str, _Found]:
    """Outermost functions by qualified name, those left out whose name comes twice."""
    heads = list(HEAD.finditer(text))
    ends = _ends([len(head[1]) for head in heads], [head.start() for head in heads], len(text))
    count: Counter[str] = Counter()
    found: dict[str, _Found] = {}
    around: list[tuple[int, str, bool]] = []
    for head, following in zip(heads, ends, strict=True):
        level = len(head[1])
        while around and around[-1][0] >= level:
            around.pop()
        function = not head[0].lstrip().startswith("class")
        name = ".".join([*(each for _, each, _ in around), head[2]])
        if function and not any(inner for _, _, inner in around):
            count[name] += 1
            found[name] = _Found(level, head.start(), text[head.start() : following])
        around.append((level, head[2], function))
    return {name: each for name, each in found.items() if count[name] == 1}


def _ends(levels: list[int], starts: list[int], last: int) -> list[int]:
    """Where the next head begins that is no further in than each."""
    found = [last] * len(levels)
    open_: list[int] = []
    for number, level in enumerate(levels):
        while open_ and levels[open_[-1]] >= level:
            found[open_.pop()] = starts[number]
        open_.append(number)
    return found


def _of_file(package: str, path: str, release: str, old: str, new: str) -> Iterator[Pair]:
    before, after = functions(old), functions(new)
    old_lines, new_lines = old.split("\n"), new.split("\n")
    known: set[str] = set()
    for name, there in after.items():
        was = before.get(name)
        if was is None or was.text == there.text or was.level != there.level:
            continue
        part = _part(new_lines, new.count("\n", 0, there.start), there.level)
        part_was = _part(old_lines, old.count("\n", 0, was.start), was.level)
        place = _place(part_was.text, part.text)
        if place is None or max(part.last - part.first, part_was.last - part_was.first) > _LONGEST:
            continue
        shown = excerpt(part, part_was.text, random.Random(0))
        if shown is None:
            continue
        known = known or names(old)
        strange = len(names(place) - known)
        yield Pair(package, path, release, name, part_was.text, part.text, shown.shown, shown.meant, strange)


def _part(lines: list[str], row: int, level: int) -> Part:
    return Part(lines, decorated(lines, row, level), end(lines, row, level))


def _place(before: str, after: str) -> str | None:
    """The new lines, where what differs is one place of a few; else None."""
    old, new = before.split("\n"), after.split("\n")
    first = _same(old, new)
    gone, come = old[first:], new[first:]
    last = _same(gone[::-1], come[::-1])
    gone, come = gone[: len(gone) - last], come[: len(come) - last]
    if not (gone or come) or max(len(gone), len(come)) > MOST_LINES:
        return None
    return "\n".join(come)


def _same(one: list[str], two: list[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )
