"""Where the sequences of a training batch lie, and how they are cut into chunks that are computed side by side."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from kernels.layout import Sequences

CHUNK = 32
"""Tokens a chunk of a KDA layer."""


@dataclass(frozen=True, slots=True)
class Packed(Sequences):
    """Sequences that have no past, so that a flat batch of T rows holds all of them.

    spans: (first row, last row) of each. position: [T] int64, a row's place in its sequence. chunks: [n, CHUNK] int64,
    the rows of every chunk, T where there is none; all first chunks of sequences come first, the longest sequences'
    foremost, then all second ones. places: [T] int64, where a row stands in the flat `chunks`. widths: how many
    sequences have a j-th chunk.
    """

    spans: tuple[tuple[int, int], ...]
    position: Tensor
    chunks: Tensor
    places: Tensor
    widths: tuple[int, ...]

    @classmethod
    def at(cls, starts: Tensor, device: torch.device | str = "cpu") -> Packed:
        """starts: [S + 1] int64, cumulative, of sequences that have at least one token each."""
        starts = starts.cpu()
        lengths = starts.diff()
        number, count = len(lengths), int(starts[-1])
        own = torch.repeat_interleave(torch.arange(number), lengths)
        position = torch.arange(count) - starts[own]
        order = torch.argsort(lengths, descending=True, stable=True)
        rank = torch.empty_like(order)
        rank[order] = torch.arange(number)
        needed = (lengths + CHUNK - 1) // CHUNK
        widths = (needed[:, None] > torch.arange(int(needed.max()))).sum(0)
        offsets = torch.cat([widths.new_zeros(1), widths.cumsum(0)])
        places = (offsets[position // CHUNK] + rank[own]) * CHUNK + position % CHUNK
        chunks = torch.full((int(offsets[-1]) * CHUNK,), count)
        chunks[places] = torch.arange(count)
        edges = starts.tolist()
        return cls(
            starts=starts.int().to(device),
            lengths=lengths.int().to(device),
            slots=torch.arange(number, dtype=torch.int32, device=device),
            table=torch.empty(number, 0, dtype=torch.int32, device=device),
            single=False,
            spans=tuple(pairwise(edges)),
            position=position.to(device),
            chunks=chunks.view(-1, CHUNK).to(device),
            places=places.to(device),
            widths=tuple(widths.tolist()),
        )
