"""Gated activations of the feed-forward layers, and plain gates."""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Activation


def glu(both: Tensor, activation: Activation) -> Tensor:
    """The gate and the up branch, side by side, made one.

    both: [N, 2·I], gate first. `silu`: SwiGLU (Shazeer 2020), `g·σ(g)·u`. `situ`: SiTU-GLU of Kimi K3,
    `β·tanh(g/β)·σ(g) · λ·tanh(u/λ)`, both branches bounded; λ ≤ 0 leaves the up branch as it is. Gives [N, I] in
    the dtype of `both`; computed in fp32.
    """
    gate, up = both.float().chunk(2, dim=-1)
    if activation.name == "situ":
        if activation.linear_beta > 0:
            up = activation.linear_beta * torch.tanh(up / activation.linear_beta)
        made = activation.beta * torch.tanh(gate / activation.beta) * torch.sigmoid(gate) * up
    else:
        made = gate * torch.sigmoid(gate) * up
    return made.to(both.dtype)


def gated(x: Tensor, gate: Tensor) -> Tensor:
    """`x · σ(gate)`, same shapes. Computed in fp32, given back in x's dtype."""
    return (x.float() * torch.sigmoid(gate.float())).to(x.dtype)
