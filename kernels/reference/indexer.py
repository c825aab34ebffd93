"""The indexer of dynamic sparse attention (DeepSeek-V3.2): which earlier tokens a token attends to."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kernels.reference.pages import gathered
from kernels.reference.router import top_lowest


def index_topk(
    q: Tensor,
    weights: Tensor,
    pages: Tensor,
    table: Tensor,
    lengths: Sequence[int],
    starts: Sequence[int],
    k: int,
) -> Tensor:
    """Positions of the k best earlier tokens by `Σ_h w_h · relu(q_h · k_s · d^-½)`, itself included.

    q: [N, H, d]. weights: [N, H], already times H^-½. pages: [P, page, d], the keys of all sequences. table:
    [S, M] page numbers. lengths: entries of each sequence with the new ones; its new tokens are rows
    starts[s] … starts[s+1]. Gives [N, k] int32 positions within the sequence, ascending; −1 after the last
    where fewer than k exist. Of equal scores the lowest position wins. Computed in fp32.
    """
    out = torch.full((q.shape[0], k), -1, dtype=torch.int32, device=q.device)
    for sequence, length in enumerate(lengths):
        first, last = starts[sequence], starts[sequence + 1]
        keys = gathered(pages, table[sequence], length).float()
        for row in range(first, last):
            seen = length - last + row + 1
            if seen <= k:
                out[row, :seen] = torch.arange(seen, device=q.device)
                continue
            heads = torch.relu(q[row].float() @ keys[:seen].T * q.shape[-1] ** -0.5)
            chosen = top_lowest(weights[row].float() @ heads, k)
            out[row] = chosen.sort().values.int()
    return out
