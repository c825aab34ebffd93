"""MXFP4: four-bit floats in blocks of 32 with a shared power of two (OCP Microscaling Formats 1.0).

Layout of compressed-tensors' `mxfp4-pack-quantized`: `packed` u8 [..., in/2], the low nibble is the even
column; `scales` u8 [..., in/32], a block is times 2^(scale − 127). Codes 0–7 are 0 ½ 1 1½ 2 3 4 6, bit 3 is
the sign.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Activation
from kernels.reference.glu import glu

BLOCK = 32
VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_BIAS = 127
_MIDDLES = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)


def unpack(packed: Tensor, scales: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The numbers that (packed [..., in/2], scales [..., in/32]) stand for: [..., in] of `dtype`."""
    table = torch.tensor((*VALUES, *(-value for value in VALUES)), device=packed.device)
    codes = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2)
    blocks = table[codes.long()].unflatten(-1, (-1, BLOCK))
    return torch.ldexp(blocks, scales[..., None].int() - _BIAS).flatten(-2).to(dtype)


def pack(values: Tensor) -> tuple[Tensor, Tensor]:
    """Nearest MXFP4 of [..., in], in a multiple of 32: (packed, scales). Ties go to the even code.

    The block's exponent is that of its largest magnitude less 2 (the largest code's), as the OCP text says;
    what is above 6 then saturates. Errors: ValueError for a width that is no multiple of 32 or values that
    are not finite.
    """
    if values.shape[-1] % BLOCK:
        raise ValueError(f"MXFP4 needs a multiple of {BLOCK} columns, not {values.shape[-1]}")
    blocks = values.float().unflatten(-1, (-1, BLOCK))
    if not torch.isfinite(blocks).all():
        raise ValueError("MXFP4 can't hold infinities or NaN")
    largest = blocks.abs().amax(-1, keepdim=True)
    _, exponent = torch.frexp(largest)  # largest = m · 2^exponent with m in [½, 1)
    exponent = torch.where(largest > 0, exponent - 1 - 2, torch.full_like(exponent, -_BIAS))
    exponent = exponent.clamp(-_BIAS, _BIAS)
    scaled = torch.ldexp(blocks, -exponent)
    middles = torch.tensor(_MIDDLES, device=values.device)
    magnitude = scaled.abs()
    codes = torch.bucketize(magnitude, middles)  # a middle itself goes down …
    up = torch.bucketize(magnitude, middles, right=True)
    codes = torch.where(codes % 2 == 0, codes, up)  # … unless the code above it is the even one
    codes = codes | (torch.signbit(scaled).long() << 3)
    pairs = codes.flatten(-2).unflatten(-1, (-1, 2)).to(torch.uint8)
    return pairs[..., 0] | pairs[..., 1] << 4, (exponent[..., 0] + _BIAS).to(torch.uint8)


def mxfp4_linear(x: Tensor, packed: Tensor, scales: Tensor) -> Tensor:
    """`x Wᵀ`. x: [N, in]; packed: [out, in/2]; scales: [out, in/32]. Gives [N, out] in x's dtype; fp32 inside."""
    return (x.float() @ unpack(packed, scales).T).to(x.dtype)


def experts(
    x: Tensor,
    ids: Tensor,
    weights: Tensor,
    gate: tuple[Tensor, ...],
    up: tuple[Tensor, ...],
    down: tuple[Tensor, ...],
    activation: Activation,
    onto: Tensor | None = None,
) -> Tensor:
    """`Σ_k w_k · E_k(x)` with `E(x) = W_down act(W_gate x, W_up x)`, only the chosen experts' weights being read.

    x: [N, L]. ids: [N, k] int. weights: [N, k] fp32. gate, up: MXFP4 as (packed [E, I, L/2], scales [E, I, L/32])
    or plain as ([E, I, L],); down: (packed [E, L, I/2], scales [E, L, I/32]) or ([E, L, I],). Gives [N, L] in x's
    dtype; fp32 inside. onto: [N, L] fp32, added to and given back; ids of -1 are none then. A row's experts are summed
    in the order of their ids, so that several calls with rising ids give the bits of one.
    """
    out = torch.zeros(x.shape, dtype=torch.float32, device=x.device) if onto is None else onto
    for expert in ids.unique().tolist():
        if expert < 0:
            continue
        rows, places = (ids == expert).nonzero(as_tuple=True)
        inside = x[rows].float()
        hidden = glu(torch.cat([_times(inside, part, expert) for part in (gate, up)], dim=-1), activation)
        out.index_add_(0, rows, _times(hidden, down, expert) * weights[rows, places, None].float())
    return out.to(x.dtype) if onto is None else out


def _times(x: Tensor, part: tuple[Tensor, ...], expert: int) -> Tensor:
    if len(part) == 1:
        return x @ part[0][expert].float().T
    return mxfp4_linear(x, part[0][expert], part[1][expert])
