"""Lists of 31 possible edits of which one is right, as a model is measured by: real typed candidates, seeded."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from deskagent.repair.model.excerpt import excerpt_of, shown
from deskagent.repair.model.measure.hunk import Hunk
from deskagent.repair.rank import Ranked
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Candidate, Edit

SIZE = 31
CHANCE = sum(1 / rank for rank in range(1, SIZE + 1)) / SIZE
"""The mean reciprocal rank of an order at random."""
_DRAWN = 15


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
    """options: SIZE where there are so many. right: the index of the right one. rank: its rank in the whole stream, 0
    where it was not reached. drawn: wrong ones at random from the whole stream, what weights are fitted on: those of
    `options` are its neighbours in rank, so that the priors hardly tell them apart. group: what it was taken from,
    a repository or package."""

    name: str
    options: Sequence[Option]
    right: int
    rank: int
    failure: str = ""
    request: str = ""
    group: str = ""
    drawn: Sequence[Option] = ()

    @property
    def answer(self) -> Option:
        return self.options[self.right]


def option(value: float | None, syntax: Syntax, line: int, edits: Sequence[Edit]) -> Option | None:
    """None where the edits lie outside of what is shown for the line."""
    part = excerpt_of(syntax, line)
    text = part.edited(edits)
    if text is None or shown(text) == shown(part.text):
        return None
    return Option(value, part.path, shown(part.text), shown(text))


def fix_of(syntax: Syntax, after: bytes) -> Option | None:
    """The fix itself, as one edit of the lines between the first and the last that differ."""
    hunk = Hunk.of(syntax.source.utf8, after)
    return option(None, syntax, hunk.line, [hunk.edit(syntax.source.path)])


def choose(
    name: str,
    stream: Iterator[Ranked],
    right: Callable[[Candidate], bool],
    fix: Option | None,
    rng: random.Random,
    limit: int,
    fewest: int = SIZE - 1,
    **facts: str,
) -> Choice | None:
    """The right candidate among those next to it in rank, at a place among them that is random. Where the first `limit`
    don't hold it, `fix` is put among some of them. Others that are right too stay out. None where there are fewer than
    `fewest` to choose from. facts: group, failure, request."""
    seen: list[tuple[int, Option]] = []
    told, rank = fix, 0
    texts: set[str] = set()
    for number, ranked in enumerate(itertools.islice(stream, limit), 1):
        made = option(ranked.value, ranked.syntax, ranked.candidate.line, ranked.candidate.edits)
        if made is None:
            continue
        if right(ranked.candidate):
            if not rank:
                told, rank = made, number
            texts.add(made.after)
        else:
            seen.append((number, made))
    if told is None:
        return None
    texts.add(told.after)
    others = [(number, other) for number, other in seen if other.after not in texts]
    if len(others) < fewest:
        return None
    many = min(SIZE - 1, len(others))
    if rank:
        start = sum(number < rank for number, _ in others) - rng.randint(0, many)
    else:
        start = rng.randint(0, len(others) - many)
    start = max(0, min(start, len(others) - many))
    taken = [other for _, other in others[start : start + many]]
    place = rng.randint(0, many)
    drawn = [other for _, other in rng.sample(others, min(_DRAWN, len(others)))] if rank else []
    options = (*taken[:place], told, *taken[place:])
    return Choice(name, options, place, rank, drawn=tuple(drawn), **facts)


def line_of(choice: Choice) -> str:
    """A line of JSON. Each excerpt stands once, and of what an edit makes of it the part that differs."""
    excerpts = list(dict.fromkeys((each.path, each.excerpt) for each in (*choice.options, *choice.drawn)))
    numbers = {excerpt: number for number, excerpt in enumerate(excerpts)}

    def packed(each: Option) -> list[Any]:
        start = _common(each.excerpt, each.after)
        same = _common(each.excerpt[start:][::-1], each.after[start:][::-1])
        end = len(each.excerpt) - same
        return [
            numbers[each.path, each.excerpt],
            each.value,
            start,
            end,
            each.after[start : len(each.after) - same],
        ]

    facts = {
        "name": choice.name, "group": choice.group, "failure": choice.failure, "request": choice.request,
        "rank": choice.rank, "right": choice.right, "excerpts": excerpts,
        "options": list(map(packed, choice.options)), "drawn": list(map(packed, choice.drawn)),
    }  # fmt: skip
    return json.dumps(facts, ensure_ascii=False)


def parse(line: str) -> Choice:
    """Errors: ValueError for what is no such line."""
    try:
        facts = json.loads(line)
        excerpts = facts.pop("excerpts")

        def unpacked(number: int, value: float | None, start: int, end: int, new: str) -> Option:
            path, text = excerpts[number]
            return Option(value, path, text, text[:start] + new + text[end:])

        for key in ("options", "drawn"):
            facts[key] = tuple(unpacked(*one) for one in facts[key])
        found = Choice(**facts)
        if not 0 <= found.right < len(found.options):
            raise ValueError(f"option {found.right} is right, of {len(found.options)}")
        return found
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"no list to choose from: {type(error).__name__}: {error}") from error


def _common(one: str, other: str) -> int:
    """Letters that both begin with."""
    least = min(len(one), len(other))
    return next((i for i in range(least) if one[i] != other[i]), least)
