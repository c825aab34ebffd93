"""Sequences that go on from others, as many answers do from one question: where their states come from.

The state of what they go on from is computed once. They don't see each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Tree:
    """Of B sequences that go on from others. starts, lengths: [B], their first rows and their tokens; ends, before:
    [B], the row behind what each goes on from, and its tokens. sources: [B], by the order of their first chunks, the
    place of what each goes on from among first chunks. widths: how many of them have a j-th chunk. All int64."""

    starts: Tensor
    lengths: Tensor
    ends: Tensor
    before: Tensor
    sources: Tensor
    widths: tuple[int, ...]

    @classmethod
    def of(
        cls,
        starts: Tensor,
        parents: Tensor,
        places: Tensor,
        own: Tensor,
        widths: tuple[int, ...],
        device: torch.device | str,
    ) -> Tree:
        """starts: [S + 1]; parents: [S], −1 for none; places, own: [S], among first chunks of those that go on from
        none and of the others. Errors: ConfigError where they stand apart or go on from such that do."""
        bound = (parents >= 0).nonzero().flatten()
        above = parents[bound]
        stands = (bound - 1 == above) | (parents[bound - 1] == above)
        if bool((parents[above] >= 0).any()) or not bool(stands.all()):
            raise ConfigError("sequences that go on from another have to stand behind it")
        sources = torch.empty_like(bound)
        sources[own[bound]] = places[above]
        lengths = starts.diff()
        return cls(
            starts=starts[bound].to(device),
            lengths=lengths[bound].to(device),
            ends=starts[above + 1].to(device),
            before=lengths[above].to(device),
            sources=sources.to(device),
            widths=widths,
        )

    def joints(self, back: int) -> tuple[Tensor, Tensor, Tensor]:
        """What is around where they begin: rows [n] of the last `back` tokens before each and the first ones of each,
        every row's place among those of its sequence, and whether it belongs to the sequence itself."""
        offsets = torch.arange(-back, back, device=self.starts.device)
        own = offsets >= 0
        rows = torch.where(own, self.starts[:, None], self.ends[:, None]) + offsets
        there = torch.where(own, self.lengths[:, None] > offsets, self.before[:, None] >= -offsets)
        place = offsets + self.before.clamp(max=back)[:, None]
        return rows[there], place[there], own.expand_as(there)[there]
