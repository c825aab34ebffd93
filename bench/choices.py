"""Lists of 31 possible edits of which one is right, as a model is measured by: real typed candidates, seeded."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from region import Region

from deskagent.repair.model.excerpt import excerpt_of, shown
from deskagent.repair.rank import Ranked
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Candidate, Edit

SIZE = 31
CHANCE = sum(1 / rank for rank in range(1, SIZE + 1)) / SIZE
"""The mean reciprocal rank of an order at random."""


@dataclass(frozen=True)
class Option:
    """value: by the priors, None where the typed edits don't reach it. excerpt, after: text shown, and what the edit
    makes of it."""

    value: float | None
    path: str
    excerpt: str
    after: str


@dataclass(frozen=True)
class Choice:
    """right: the index of the right one. rank: its rank in the whole stream, 0 where it was not reached."""

    name: str
    options: Sequence[Option]
    right: int
    rank: int
    failure: str = ""
    request: str = ""


def option(value: float | None, syntax: Syntax, line: int, edits: Sequence[Edit]) -> Option | None:
    """None where the edits lie outside of what is shown for the line."""
    part = excerpt_of(syntax, line)
    text = part.edited(edits)
    if text is None or shown(text) == shown(part.text):
        return None
    return Option(value, part.path, shown(part.text), shown(text))


def fix_of(syntax: Syntax, after: bytes) -> Option | None:
    """The fix itself, as one edit of the lines between the first and the last that differ."""
    before = syntax.source.utf8
    edit = difference(syntax.source.path, before, after)
    return option(None, syntax, before.count(b"\n", 0, edit.start) + 1, [edit])


def difference(path: str, before: bytes, after: bytes) -> Edit:
    """One edit of whole lines."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    most = min(len(old), len(new)) - first
    last = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    start = sum(map(len, old[:first]))
    end = start + sum(map(len, old[first : len(old) - last]))
    return Edit(path, start, end, b"".join(new[first : len(new) - last]).decode("utf-8", "replace"))


def is_fix(before: bytes, path: str, region: Region) -> Callable[[Candidate], bool]:
    """Whether a candidate's edits make the same of a file as the fix that `region` is of."""

    def same(candidate: Candidate) -> bool:
        if any(edit.path != path for edit in candidate.edits):
            return False
        return region.shape(before, candidate.edits) == region.wanted

    return same


def choose(
    name: str,
    stream: Iterator[Ranked],
    right: Callable[[Candidate], bool],
    fix: Option | None,
    rng: random.Random,
    limit: int,
    failure: str = "",
    request: str = "",
) -> Choice | None:
    """The right candidate among those next to it in rank, at a place among them that is random. Where the first `limit`
    don't hold it, `fix` is put among some of them. None where there is too little to choose from."""
    seen: list[Ranked] = []
    found = -1
    for ranked in itertools.islice(stream, limit):
        seen.append(ranked)
        if found < 0 and right(ranked.candidate):
            found = len(seen) - 1
        if found >= 0 and len(seen) > found + 2 * SIZE:
            break
    options = [option(r.value, r.syntax, r.candidate.line, r.candidate.edits) for r in seen]
    told = options[found] if found >= 0 else fix
    if told is None:
        return None
    others = [(i, o) for i, o in enumerate(options) if o is not None and i != found and o.after != told.after]
    if len(others) < SIZE - 1:
        return None
    if found >= 0:
        above = sum(i < found for i, _ in others)
        start = above - rng.randint(0, SIZE - 1)
    else:
        start = rng.randint(0, len(others) - SIZE + 1)
    start = max(0, min(start, len(others) - SIZE + 1))
    window = others[start : start + SIZE - 1]
    place = rng.randint(0, SIZE - 1)
    taken = [o for _, o in window]
    return Choice(name, (*taken[:place], told, *taken[place:]), place, found + 1, failure, request)
