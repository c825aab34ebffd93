"""Routers are kept level by their selection biases alone, without a loss (DeepSeek-V3)."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

import torch
from torch import Tensor


@torch.no_grad()
def level(biases: MutableMapping[int, Tensor], loads: Sequence[Tensor], rate: float) -> None:
    """Moves each layer's biases [E] by `rate` towards experts that fewer tokens chose. loads: [E] a layer, in order."""
    for layer, load in zip(sorted(biases), loads, strict=True):
        share = load.float()
        biases[layer] += rate * torch.sign(share.mean() - share)
        biases[layer] -= biases[layer].mean()


def imbalance(loads: Sequence[Tensor]) -> float:
    """The fullest expert's load over the mean one, of the worst layer; 1 is even."""
    return max(float(load.max() / load.float().mean()) for load in loads)
