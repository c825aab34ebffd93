"""The short causal convolution before a KDA layer's queries, keys and values."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def causal_conv(x: Tensor, weight: Tensor, states: Tensor, slots: Sequence[int], starts: Sequence[int]) -> Tensor:
    """`SiLU(Σ_j weight[c, j] x[t − K + 1 + j, c])`, a channel by itself, over each sequence of a flat batch.

    x: [N, C], the sequences one after the other; sequence s is rows starts[s] … starts[s+1]. weight: [C, K].
    states: [P, C, K−1], the last inputs of each slot, oldest first; slots[s] is the row of sequence s, changed
    in place. Gives [N, C] in x's dtype; computed in fp32.
    """
    kernel = weight.shape[-1]
    out = torch.empty_like(x)
    for sequence, slot in enumerate(slots):
        first, last = starts[sequence], starts[sequence + 1]
        if first == last:
            continue
        window = torch.cat([states[slot].float(), x[first:last].float().T], dim=-1)
        mixed = (window.unfold(-1, kernel, 1) * weight.float()[:, None]).sum(-1)
        out[first:last] = (mixed * torch.sigmoid(mixed)).T.to(x.dtype)
        states[slot] = window[:, window.shape[-1] - kernel + 1 :].to(states.dtype)
    return out
