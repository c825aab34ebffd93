"""Multi-head latent attention in its absorbed form, over the paged latent cache: all of it or chosen positions."""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Sequences
from kernels.reference.pages import gathered


def absorb(q: Tensor, k_b: Tensor) -> Tensor:
    """Queries that read latents as they are cached: the plain part of each head through its key matrix.

    q: [N, H·(nope + shared)]. k_b: [H, nope, rank]. Gives [N, H, rank + shared] fp32.
    """
    heads, nope, _ = k_b.shape
    q = q.float().unflatten(1, (heads, -1))
    plain = torch.einsum("nhd,hdr->nhr", q[..., :nope], k_b.float())
    return torch.cat([plain, q[..., nope:]], dim=-1)


def mla_attention(
    q: Tensor, pages: Tensor, sequences: Sequences, chosen: Tensor | None, rank: int, scale: float
) -> Tensor:
    """`softmax(scale · q · c) c[:rank]` over each token's own past, itself included.

    q: [N, H, W], absorbed, W = rank + shared. pages: [P, page, W], the latents of all sequences. chosen: [N, k]
    positions, −1 for none, or None for the whole past. Gives [N, H, rank] fp32. Computed in fp32.
    """
    out = torch.empty((*q.shape[:2], rank), dtype=torch.float32, device=q.device)
    for number, (first, last, length, _) in enumerate(sequences.rows()):
        past = gathered(pages, sequences.table[number], length).float()
        for row in range(first, last):
            seen = past[: length - last + row + 1]
            if chosen is not None:
                seen = seen[chosen[row][chosen[row] >= 0].long()]
            weights = (q[row].float() @ seen.T * scale).softmax(-1)
            out[row] = weights @ seen[:, :rank]
    return out


def expand(o: Tensor, v_b: Tensor, dtype: torch.dtype) -> Tensor:
    """Each head's values out of its mixed latent. o: [N, H, rank]; v_b: [H, v, rank]. Gives [N, H·v] of `dtype`."""
    return torch.einsum("nhr,hvr->nhv", o.float(), v_b.float()).flatten(1).to(dtype)
