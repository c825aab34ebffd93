"""Packs MXFP4 as kernels.reference.mxfp4.pack does, bit for bit, by whole-number arithmetic on the floats' own bits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.reference.mxfp4 import BLOCK
from kernels.reference.mxfp4 import pack as pack_slowly

_BIAS = 127
_EDGES = ((0.25, 1), (0.75, 0), (1.25, 1), (1.75, 0), (2.5, 1), (3.5, 0), (5.0, 1))
"""Between two codes: (the middle, whether it goes down), so that ties go to the even code."""
_TINY = 5
"""Below this exponent of a block's largest value, the others may be subnormal numbers that matter."""


@dataclass(frozen=True, slots=True)
class _Format:
    whole: torch.dtype
    mantissa: int


_FORMATS = {torch.bfloat16: _Format(torch.int16, 7), torch.float32: _Format(torch.int32, 23)}


def pack(values: Tensor) -> tuple[Tensor, Tensor]:
    """[..., in] of bf16, fp16 or fp32, in a multiple of 32: (packed u8 [..., in/2], scales u8 [..., in/32]).

    Errors: ValueError for another width or values that are not finite.
    """
    if values.dtype not in _FORMATS:
        values = values.float()
    if values.shape[-1] % BLOCK:
        raise ValueError(f"MXFP4 needs a multiple of {BLOCK} columns, not {values.shape[-1]}")
    form = _FORMATS[values.dtype]
    bits = values.contiguous().view(form.whole).unflatten(-1, (-1, BLOCK))
    magnitude = bits & torch.iinfo(form.whole).max
    largest = magnitude.amax(-1, keepdim=True)
    exponent = largest >> form.mantissa
    if bool((exponent == 255).any()):
        raise ValueError("MXFP4 can't hold infinities or NaN")
    if bool(((exponent < _TINY) & (largest > 0)).any()):
        return pack_slowly(values)
    scale = (exponent - 2).clamp(min=0)
    # Bits minus exponent bits is the division. A block of zeros has no exponent: any large one keeps it at zero.
    scaled = magnitude - (torch.where(largest > 0, scale - _BIAS, _BIAS - 2) << form.mantissa)
    codes = (bits < 0).to(torch.uint8) << 3
    for middle, down in _EDGES:
        edge = int(torch.tensor(middle, dtype=values.dtype).view(form.whole)) - (1 - down)
        codes += scaled > edge
    codes = codes.flatten(-2)
    return codes[..., 0::2] | codes[..., 1::2] << 4, scale[..., 0].to(torch.uint8)
