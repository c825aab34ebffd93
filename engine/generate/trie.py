"""Continuations that begin alike, as a tree: what they share is computed once."""

from __future__ import annotations

from collections.abc import Sequence


class Branch:
    """`tokens` that follow its parent's, then the `ways` on. `ends`: which continuations end with its last token."""

    __slots__ = ("ends", "tokens", "ways")

    def __init__(self, tokens: Sequence[int], ends: list[int]) -> None:
        self.tokens, self.ends = tokens, ends
        self.ways: list[Branch] = []


def branches(continuations: Sequence[Sequence[int]], most: int) -> list[Branch]:
    """The first branches, none longer than `most` tokens. Empty continuations are in none."""
    some = [number for number, one in enumerate(continuations) if len(one)]
    roots: list[Branch] = []
    # Groups that agree before `start`, sorted, and where their branches go; a list, as text can nest deeper than calls.
    todo = [(sorted(some, key=lambda number: list(continuations[number])), 0, roots)]
    while todo:
        group, start, ways = todo.pop()
        for same in _runs(continuations, group, start):
            first, farthest = continuations[same[0]], continuations[same[-1]]
            end = start + 1  # what the first and the last of a sorted group share, all share
            while end < min(len(first), len(farthest), start + most) and first[end] == farthest[end]:
                end += 1
            made = Branch(first[start:end], [number for number in same if len(continuations[number]) == end])
            ways.append(made)
            rest = [number for number in same if len(continuations[number]) > end]
            if rest:
                todo.append((rest, end, made.ways))
    return roots


def folded(roots: list[Branch], again: int, most: int) -> list[Branch]:
    """The same continuations in fewer generations: one is left out, each of its branches joined to every way on from
    it, where no more than `again` tokens in all are computed once more for it. None is longer than `most` tokens."""
    generations = [roots]
    while ways := [way for branch in generations[-1] for way in branch.ways]:
        generations.append(ways)
    joined: dict[int, list[Branch]] = {}
    for generation in reversed(generations):
        fitting = []
        for branch in generation:
            branch.ways = _in_place_of(branch.ways, joined)
            if branch.ways and len(branch.tokens) + max(len(way.tokens) for way in branch.ways) <= most:
                fitting.append(branch)
        more = sum(len(branch.tokens) * (len(branch.ways) + bool(branch.ends) - 1) for branch in fitting)
        if more <= again:
            joined |= {id(branch): _joined(branch) for branch in fitting}
    return _in_place_of(roots, joined)


def _in_place_of(branches: list[Branch], joined: dict[int, list[Branch]]) -> list[Branch]:
    return [one for branch in branches for one in joined.get(id(branch), [branch])]


def _joined(branch: Branch) -> list[Branch]:
    """Its ways, each behind its tokens; where a continuation ends with it that too."""
    made = [Branch(branch.tokens, branch.ends)] if branch.ends else []
    for way in branch.ways:
        made.append(Branch([*branch.tokens, *way.tokens], way.ends))
        made[-1].ways = way.ways
    return made


def _runs(continuations: Sequence[Sequence[int]], group: list[int], start: int) -> list[list[int]]:
    """A sorted group cut where the token at `start` changes."""
    runs: list[list[int]] = []
    for number in group:
        if runs and continuations[runs[-1][0]][start] == continuations[number][start]:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
