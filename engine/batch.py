"""What one forward pass works on: new tokens of several sequences, one after the other in a flat batch."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from kernels.layout import Sequences


@dataclass(frozen=True, slots=True)
class Batch:
    """tokens: [N] int64. wanted: rows whose logits are asked for. images: (row, [n, hidden]) pairs: n rows from `row`
    on take these embeddings in place of their tokens'. longest: tokens of the longest sequence."""

    tokens: Tensor
    sequences: Sequences
    wanted: Tensor
    longest: int
    images: tuple[tuple[int, Tensor], ...] = ()
