"""Attention residuals: the stream that a layer reads is a mix of banked streams and the current one."""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.reference.norm import rms_norm


def attn_res(bank: Tensor, stream: Tensor, score: Tensor, eps: float) -> Tensor:
    """`Σ_j softmax_j(score · RMSNorm(v_j)) v_j` over the bank's streams and the current one.

    bank: [J, N, D] (J may be 0: then the stream is given back as it is). stream: [N, D]. score: [D], the
    product of the norm's weight and the projection. Softmax and sum in fp32; given back in stream's dtype.
    """
    if bank.shape[0] == 0:
        return stream
    values = torch.cat([bank, stream[None]]).float()
    scores = rms_norm(values, None, eps) @ score.float()
    return torch.einsum("jn,jnd->nd", scores.softmax(0), values).to(stream.dtype)
