"""What a training pass is told and tells beside what the head reads: of routers' loads and of indexers."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.train.recall import Recall


@dataclass(slots=True)
class Notes:
    """sparse: whether full attention sees only what the indexer chooses. rows: queries of a batch whose attention the
    indexers are compared with in each layer, 0 for none. seed: which ones. recall: where to add up what the choices of
    these queries keep, or None.

    Filled in layer by layer: loads: [E] tokens that chose each expert. divergences: KL(attention ‖ indexer), the mean
    over rows, with gradients to the indexer alone.
    """

    sparse: bool = False
    rows: int = 0
    seed: int = 0
    recall: Recall | None = None
    loads: list[Tensor] = field(default_factory=list)
    divergences: list[Tensor] = field(default_factory=list)

    def sampled(self, count: int) -> Tensor:
        """Rows of a batch of `count`, ascending, others in every layer."""
        generator = torch.Generator().manual_seed(self.seed * 1009 + len(self.divergences))
        return torch.randperm(count, generator=generator)[: self.rows].sort().values
