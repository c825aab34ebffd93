"""The indexer of dynamic sparse attention (DeepSeek-V3.2): which earlier tokens a token attends to."""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Sequences
from kernels.reference.pages import gathered
from kernels.reference.router import top_lowest


def index_topk(q: Tensor, weights: Tensor, pages: Tensor, sequences: Sequences, k: int) -> Tensor:
    """Positions of the k best earlier tokens by `Σ_h w_h·H^-½ · relu(q_h · k_s · d^-½)`, itself included.

    q: [N, H·d]. weights: [N, H]. pages: [P, page, d], the keys of all sequences. Gives [N, k] int32 positions within
    the sequence, ascending; −1 after the last where fewer than k exist. Of equal scores the lowest position wins.
    Computed in fp32.
    """
    heads = weights.shape[1]
    q = q.float().unflatten(1, (heads, -1))
    weights = weights.float() * heads**-0.5
    out = torch.full((q.shape[0], k), -1, dtype=torch.int32, device=q.device)
    for number, (first, last, length, _) in enumerate(sequences.rows()):
        keys = gathered(pages, sequences.table[number], length).float()
        for row in range(first, last):
            seen = length - last + row + 1
            if seen <= k:
                out[row, :seen] = torch.arange(seen, device=q.device)
                continue
            scores = weights[row] @ torch.relu(q[row] @ keys[:seen].T * q.shape[-1] ** -0.5)
            out[row] = top_lowest(scores, k).sort().values.int()
    return out
