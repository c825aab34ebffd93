"""Plain matrix products of the trunk, embeddings, sums."""

from __future__ import annotations

import torch
from torch import Tensor


def linear(x: Tensor, *weights: Tensor) -> Tensor:
    """`x Wᵀ` of each weight, side by side. x: [N, in]; weights: [out, in] each. Gives [N, Σ out] in x's dtype,
    summed in fp32."""
    wide = x.float()
    return torch.cat([wide @ weight.float().T for weight in weights], dim=-1).to(x.dtype)


def embed(tokens: Tensor, table: Tensor, dtype: torch.dtype) -> Tensor:
    """Rows of `table`. tokens: [N] int64; table: [V, D]. Gives [N, D] of `dtype`."""
    return table[tokens].to(dtype)


def add(one: Tensor, two: Tensor) -> Tensor:
    """The sum of two [N, D], in fp32, in the dtype of the first."""
    return (one.float() + two.float()).to(one.dtype)
