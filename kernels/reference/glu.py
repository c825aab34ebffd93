"""Gated activations of the feed-forward layers."""

from __future__ import annotations

import torch
from torch import Tensor


def situ_glu(gate: Tensor, up: Tensor, beta: float, linear_beta: float) -> Tensor:
    """SiTU-GLU of Kimi K3: `β·tanh(g/β)·σ(g) · λ·tanh(u/λ)`, both branches bounded.

    gate, up: [..., I], same shape. `linear_beta` ≤ 0 leaves the up branch as it is. Computed in fp32, given
    back in the dtype of `gate`.
    """
    wide, linear = gate.float(), up.float()
    if linear_beta > 0:
        linear = linear_beta * torch.tanh(linear / linear_beta)
    return (beta * torch.tanh(wide / beta) * torch.sigmoid(wide) * linear).to(gate.dtype)


def silu_glu(gate: Tensor, up: Tensor) -> Tensor:
    """SwiGLU (Shazeer 2020): `g·σ(g)·u`. gate, up: [..., I]. Computed in fp32."""
    wide = gate.float()
    return (wide * torch.sigmoid(wide) * up.float()).to(gate.dtype)
