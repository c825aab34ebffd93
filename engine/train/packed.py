"""Where the sequences of a training batch lie, and how they are cut into chunks that are computed side by side."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from engine.train.tree import Tree
from kernels.layout import Sequences

CHUNK = 32
"""Tokens a chunk of a KDA layer."""


@dataclass(frozen=True, slots=True)
class Span:
    """Rows [first, last) that attend to each other: a sequence, or one with all that goes on from it. seen: [L, L]
    bool, what each of them sees, itself included; None where that is all before it."""

    first: int
    last: int
    seen: Tensor | None = None

    def past(self, rows: Tensor) -> Tensor:
        """[n, L] bool: what some of its rows see, counted from `first`."""
        if self.seen is not None:
            return self.seen[rows]
        return torch.arange(self.last - self.first, device=rows.device) <= rows[:, None]


@dataclass(frozen=True, slots=True)
class Packed(Sequences):
    """Sequences in a flat batch of T rows, which hold all of their past: they have none, or go on from another of them.

    spans: what attends to what. position: [T] int64, a row's place in its sequence. chunks: [n, CHUNK] int64, the rows
    of every chunk, T where there is none; all first chunks of sequences come first, the longest sequences' foremost,
    then all second ones. Those of sequences that go on from others come after all those. places: [T] int64, where a
    row stands in the flat `chunks`. widths: how many sequences without a past have a j-th chunk. tree: None where all
    are without a past.
    """

    spans: tuple[Span, ...]
    position: Tensor
    chunks: Tensor
    places: Tensor
    widths: tuple[int, ...]
    tree: Tree | None = None

    @classmethod
    def at(cls, starts: Tensor, device: torch.device | str = "cpu", parents: Tensor | None = None) -> Packed:
        """starts: [S + 1] int64, cumulative, of sequences that have at least one token each. parents: [S] int64, the
        sequence that one goes on from, −1 for none; all that go on from one stand behind it. None: there are none."""
        starts = starts.cpu()
        lengths = starts.diff()
        number, count = len(lengths), int(starts[-1])
        own = torch.repeat_interleave(torch.arange(number), lengths)
        position = torch.arange(count) - starts[own]
        free = torch.ones(number, dtype=torch.bool) if parents is None else parents.cpu() < 0
        begins, rank, widths = _laid(lengths, free, 0)
        places = torch.empty_like(position)
        rows = free[own]
        places[rows] = begins[position[rows] // CHUNK] + rank[own[rows]]
        whole, tree = sum(widths), None
        if parents is not None and not bool(free.all()):
            begins, other, more = _laid(lengths, ~free, whole)
            places[~rows] = begins[position[~rows] // CHUNK] + other[own[~rows]]
            tree = Tree.of(starts, parents.cpu(), rank, other, more, device)
            whole += sum(more)
        places = places * CHUNK + position % CHUNK
        chunks = torch.full((whole * CHUNK,), count)
        chunks[places] = torch.arange(count)
        edges = list(pairwise(starts.tolist()))
        return cls(
            starts=starts.int().to(device),
            lengths=lengths.int().to(device),
            slots=torch.arange(number, dtype=torch.int32, device=device),
            table=torch.empty(number, 0, dtype=torch.int32, device=device),
            single=False,
            spans=tuple(Span(*edge) for edge in edges) if tree is None else _spans(edges, parents, device),
            position=position.to(device),
            chunks=chunks.view(-1, CHUNK).to(device),
            places=places.to(device),
            widths=widths,
            tree=tree,
        )


def _laid(lengths: Tensor, which: Tensor, after: int) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Of some of the sequences, whose chunks come after so many others: where their first, second … chunks begin, each
    one's place among them, and how many there are."""
    needed = torch.where(which, (lengths + CHUNK - 1) // CHUNK, 0)
    order = torch.argsort(torch.where(which, lengths, 0), descending=True, stable=True)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order))
    widths = (needed[:, None] > torch.arange(int(needed.max()))).sum(0)
    first = torch.cat([widths.new_zeros(1), widths.cumsum(0)]) + after
    return first, rank, tuple(widths.tolist())


def _spans(
    edges: list[tuple[int, int]], parents: Tensor | None, device: torch.device | str
) -> tuple[Span, ...]:
    of = [-1] * len(edges) if parents is None else parents.tolist()
    spans: list[Span] = []
    number = 0
    while number < len(edges):
        first, end = edges[number]
        last = number + 1
        while last < len(edges) and of[last] == number:
            last += 1
        if last == number + 1:
            spans.append(Span(first, end))
        else:
            seen = torch.ones(edges[last - 1][1] - first, edges[last - 1][1] - first, dtype=torch.bool).tril()
            for start, stop in edges[number + 1 : last]:
                seen[start - first : stop - first, end - first : start - first] = False
            spans.append(Span(first, edges[last - 1][1], seen.to(device)))
        number = last
    return tuple(spans)
