"""Quantisation in the training loop: routed experts compute with what MXFP4 leaves of them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function

from engine.weights.mxfp4 import pack
from kernels.reference.mxfp4 import unpack


class Quantised(Function):
    """The weights [..., in] that a checkpoint in MXFP4 will have, in BF16, which holds them exactly; gradients pass as
    if nothing had been rounded. A checkpoint is made from BF16, so that is what is packed here."""

    @staticmethod
    def forward(ctx, weight: Tensor) -> Tensor:
        return unpack(*pack(weight.bfloat16()), torch.bfloat16)

    @staticmethod
    def backward(ctx, grad: Tensor):
        return grad.float()
