"""Plain matrix products of the trunk, embeddings, sums."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

LOGIT_BYTES = 1 << 26
"""Of the logits that are held at once where only their likelihoods are asked for."""


def linear(x: Tensor, *weights: Tensor) -> Tensor:
    """`x Wᵀ` of each weight, side by side. x: [N, in]; weights: [out, in] each. Gives [N, Σ out] in x's dtype,
    summed in fp32."""
    wide = x.float()
    return torch.cat([wide @ weight.float().T for weight in weights], dim=-1).to(x.dtype)


def loglik(
    x: Tensor, weight: Tensor, rows: Tensor, tokens: Tensor, product: Callable[..., Tensor] = linear
) -> Tensor:
    """Log-softmax of `x Wᵀ` at pairs of a row and a token. x: [N, in]; weight: [V, in]; rows, tokens: [M] int64.
    Gives [M] fp32; made in parts, so that logits take no more than LOGIT_BYTES at once. product: what makes them."""
    most = max(LOGIT_BYTES // (4 * max(weight.shape[0], 1)), 1)
    made = torch.zeros(rows.shape, dtype=torch.float32, device=x.device)
    for first in range(0, x.shape[0], most):
        logits = product(x[first : first + most], weight).float().log_softmax(-1)
        at = (rows - first).clamp(0, logits.shape[0] - 1)
        made = torch.where(at == rows - first, logits[at, tokens], made)
    return made


def embed(tokens: Tensor, table: Tensor, dtype: torch.dtype) -> Tensor:
    """Rows of `table`. tokens: [N] int64; table: [V, D]. Gives [N, D] of `dtype`."""
    return table[tokens].to(dtype)


def add(one: Tensor, two: Tensor) -> Tensor:
    """The sum of two [N, D], in fp32, in the dtype of the first."""
    return (one.float() + two.float()).to(one.dtype)
