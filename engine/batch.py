"""What one forward pass works on: new tokens of several sequences, one after the other in a flat batch."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """N new tokens of S sequences.

    tokens: [N] int64. starts: S + 1 row numbers; sequence s is rows starts[s] … starts[s+1]. lengths: tokens of
    each sequence, the new ones included. slots: its row in the pools of KDA states. table: [S, M] int32, its
    pages in the pools of latents and indexer keys. wanted: rows whose logits are asked for. images: (row,
    [n, hidden]) pairs: n rows from `row` on take these embeddings in place of their tokens'.
    """

    tokens: Tensor
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    slots: tuple[int, ...]
    table: Tensor
    wanted: Tensor
    images: tuple[tuple[int, Tensor], ...] = ()
