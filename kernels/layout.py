"""Where the sequences of a flat batch lie: their rows, their pages and their state slots."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Sequences:
    """S sequences, whose new tokens are rows starts[s] … starts[s+1] of a flat batch.

    starts: [S + 1]. lengths: [S], tokens with the new ones. slots: [S], rows in the pools of recurrent states.
    table: [S, M], page numbers in the pools of pages. All int32. `single`: every sequence has one new token.
    """

    starts: Tensor
    lengths: Tensor
    slots: Tensor
    table: Tensor
    single: bool

    @classmethod
    def of(cls, new: list[int], lengths: list[int], slots: list[int], table: Tensor) -> Sequences:
        """From the number of new tokens of each sequence."""
        starts = [0]
        for count in new:
            starts.append(starts[-1] + count)
        return cls(_ints(starts), _ints(lengths), _ints(slots), table.int(), all(count == 1 for count in new))

    def rows(self) -> list[tuple[int, int, int, int]]:
        """(first row, last row, length, slot) of each sequence."""
        starts, lengths, slots = self.starts.tolist(), self.lengths.tolist(), self.slots.tolist()
        return list(zip(starts, starts[1:], lengths, slots, strict=False))

    def to(self, device: torch.device | str) -> Sequences:
        starts, lengths, slots, table = (
            part.to(device) for part in (self.starts, self.lengths, self.slots, self.table)
        )
        return Sequences(starts, lengths, slots, table, self.single)


def _ints(numbers: list[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int32)


@dataclass(frozen=True, slots=True)
class Activation:
    """A gated activation: `silu` (SwiGLU) or `situ` with its bounds."""

    name: str
    beta: float = 0.0
    linear_beta: float = 0.0
