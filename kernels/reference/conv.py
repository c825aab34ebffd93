"""The short causal convolution before a KDA layer's queries, keys and values."""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Sequences


def causal_conv(x: Tensor, weight: Tensor, states: Tensor, sequences: Sequences) -> Tensor:
    """`SiLU(Σ_j weight[c, j] x[t − K + 1 + j, c])`, a channel by itself, over each sequence.

    x: [N, C]. weight: [C, K]. states: [P, C, K−1], the last inputs of each slot, oldest first, changed in place.
    Gives [N, C] in x's dtype; computed in fp32.
    """
    kernel = weight.shape[-1]
    out = torch.empty_like(x)
    for first, last, _, slot in sequences.rows():
        if first == last:
            continue
        window = torch.cat([states[slot].float(), x[first:last].float().T], dim=-1)
        mixed = (window.unfold(-1, kernel, 1) * weight.float()[:, None]).sum(-1)
        out[first:last] = (mixed * torch.sigmoid(mixed)).T.to(x.dtype)
        states[slot] = window[:, window.shape[-1] - kernel + 1 :].to(states.dtype)
    return out
