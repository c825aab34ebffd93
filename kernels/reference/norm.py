"""Root-mean-square norm (Zhang & Sennrich 2019) and layer norm."""

from __future__ import annotations

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    """`x / sqrt(mean(x²) + eps) · weight` over the last dimension.

    x: [..., D], any float dtype. weight: [D] or None for ones. Computed in fp32, given back in x's dtype.
    """
    wide = x.float()
    wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    if weight is not None:
        wide = wide * weight.float()
    return wide.to(x.dtype)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """`(x − mean) / sqrt(var + eps) · weight + bias` over the last dimension. x: [..., D]; weight, bias: [D]."""
    wide = torch.nn.functional.layer_norm(x.float(), (x.shape[-1],), weight.float(), bias.float(), eps)
    return wide.to(x.dtype)
