"""The router: which experts a token goes to, and with what weights (DeepSeek-V3's sigmoid router)."""

from __future__ import annotations

import torch
from torch import Tensor


def top_lowest(scores: Tensor, k: int) -> Tensor:
    """Indices of the k largest over the last dimension, largest first; of equal ones the lowest index first."""
    return torch.sort(scores, dim=-1, descending=True, stable=True).indices[..., :k]


def route(
    x: Tensor, weight: Tensor, bias: Tensor | None, k: int, scale: float, renormalise: bool
) -> tuple[Tensor, Tensor]:
    """Experts are chosen by `σ(W x) + bias`, weighted by `σ(W x)` alone.

    x: [N, D]. weight: [E, D]. bias: [E], the selection bias, or None. Gives (ids [N, k] int32, weights [N, k]
    fp32): largest first, of equal ones the lowest expert; weights sum to `scale` if `renormalise`, else they
    are the scores times `scale`. Computed in fp32.
    """
    scores = torch.sigmoid(x.float() @ weight.float().T)
    ids = top_lowest(scores if bias is None else scores + bias.float(), k)
    weights = scores.gather(-1, ids)
    if renormalise:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    return ids.int(), weights * scale
