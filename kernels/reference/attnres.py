"""Attention residuals: what a layer reads is a mix of banked streams and the current one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kernels.reference.norm import rms_norm


def attn_res(streams: Sequence[Tensor], score: Tensor, eps: float) -> Tensor:
    """`Σ_j softmax_j(score · RMSNorm(v_j)) v_j` over the streams, the current one last.

    streams: J of [N, D]; one alone is given back as it is. score: [D], the norm's weight times the projection.
    Softmax and sum in fp32; given back in the streams' dtype.
    """
    if len(streams) == 1:
        return streams[0]
    values = torch.stack(list(streams)).float()
    scores = rms_norm(values, None, eps) @ score.float()
    return torch.einsum("jn,jnd->nd", scores.softmax(0), values).to(streams[-1].dtype)
