"""Multi-head latent attention in its absorbed form, over the paged latent cache, all of it or chosen positions."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kernels.reference.pages import gathered


def mla_attention(
    q: Tensor,
    pages: Tensor,
    table: Tensor,
    lengths: Sequence[int],
    starts: Sequence[int],
    chosen: Tensor | None,
    rank: int,
    scale: float,
) -> Tensor:
    """`softmax(scale · q · c) c[:rank]` over each token's own past, itself included.

    q: [N, H, W], absorbed queries, W = rank + shared key part. pages: [P, page, W], the latents of all
    sequences. table, lengths, starts: as in `index_topk`. chosen: [N, k] positions, −1 for none, or None for
    the whole past. Gives [N, H, rank] fp32. Computed in fp32.
    """
    out = torch.empty((*q.shape[:2], rank), dtype=torch.float32, device=q.device)
    for sequence, length in enumerate(lengths):
        first, last = starts[sequence], starts[sequence + 1]
        past = gathered(pages, table[sequence], length).float()
        for row in range(first, last):
            seen = past[: length - last + row + 1]
            if chosen is not None:
                seen = seen[chosen[row][chosen[row] >= 0].long()]
            weights = (q[row].float() @ seen.T * scale).softmax(-1)
            out[row] = weights @ seen[:, :rank]
    return out
