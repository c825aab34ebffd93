"""Operations a row at a time: norms, attention residuals, gates and activations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.layout import Activation
from kernels.triton.shared import blocks, check, gated_unit, power_of_two, rounded, sigmoid

WIDE = 1024
"""Values that a program of an elementwise kernel works on."""


def rms_norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    check(x, weight)
    flat = x.reshape(-1, x.shape[-1]).contiguous()
    out = torch.empty_like(flat)
    if flat.numel():
        width = flat.shape[1]
        block = power_of_two(width)
        given = weight is not None
        _rms_norm[(flat.shape[0],)](
            flat, weight if given else flat, out, width, eps, given, block, num_warps=_warps(block)
        )
    return out.view(x.shape)


def attn_res(streams: Sequence[Tensor], score: Tensor, eps: float) -> Tensor:
    if len(streams) == 1:
        return streams[0]
    check(*streams, score)
    parts = tuple(stream.contiguous() for stream in streams)
    out = torch.empty_like(parts[-1])
    if out.numel():
        rows, width = out.shape
        block = power_of_two(width)
        _attn_res[(rows,)](parts, score, out, width, eps, len(parts), block, num_warps=_warps(block))
    return out


def gated_norm(o: Tensor, weight: Tensor, gate: Tensor, eps: float) -> Tensor:
    check(o, weight, gate)
    rows, heads, width = o.shape
    out = torch.empty_like(gate, memory_format=torch.contiguous_format)
    if out.numel():
        block, together = power_of_two(width), min(power_of_two(heads), 8)
        grid = (rows, blocks(heads, together))
        _gated_norm[grid](o.contiguous(), weight, gate.contiguous(), out, heads, width, eps, together, block)
    return out


def gated(x: Tensor, gate: Tensor) -> Tensor:
    check(x, gate)
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if out.numel():
        grid = (blocks(out.numel(), WIDE),)
        _gated[grid](x.contiguous(), gate.contiguous(), out, out.numel(), WIDE)
    return out


def glu(both: Tensor, activation: Activation) -> Tensor:
    check(both)
    rows, width = both.shape[0], both.shape[1] // 2
    out = both.new_empty((rows, width))
    if out.numel():
        block = min(WIDE, power_of_two(width))
        _glu[(rows, blocks(width, block))](both.contiguous(), out, width, *unit(activation), block)
    return out


def add(one: Tensor, two: Tensor) -> Tensor:
    if one.dtype == two.dtype:
        return one + two  # PyTorch adds bf16 in fp32 and rounds once
    return (one.float() + two.float()).to(one.dtype)


def embed(tokens: Tensor, table: Tensor, dtype: torch.dtype) -> Tensor:
    return table.index_select(0, tokens).to(dtype)


def unit(activation: Activation) -> tuple[bool, float, float, bool]:
    """An activation as `gated_unit` takes it."""
    return (
        activation.name == "situ", float(activation.beta), float(activation.linear_beta),
        activation.linear_beta > 0,
    )  # fmt: skip


def _warps(block: int) -> int:
    return min(max(block // 512, 1), 16)


@triton.jit
def _rms_norm(x, weight, out, width, eps, GIVEN: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    inside = i < width
    v = tl.load(x + row * width + i, mask=inside, other=0.0).to(tl.float32)
    v *= tl.rsqrt(tl.sum(v * v, 0) / width + eps)
    if GIVEN:
        v *= tl.load(weight + i, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * width + i, rounded(v, out.dtype.element_ty), mask=inside)


@triton.jit
def _attn_res(streams, score, out, width, eps, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    """The softmax over the streams as they come, each read once."""
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    inside = i < width
    by = tl.load(score + i, mask=inside, other=0.0).to(tl.float32)
    top = -float("inf")
    total = 0.0
    mixed = tl.zeros([BLOCK], tl.float32)
    for j in tl.static_range(COUNT):
        v = tl.load(streams[j] + row * width + i, mask=inside, other=0.0).to(tl.float32)
        s = tl.sum(v * by, 0) * tl.rsqrt(tl.sum(v * v, 0) / width + eps)
        new = tl.maximum(top, s)
        old_share = tl.exp(top - new)
        share = tl.exp(s - new)
        mixed = mixed * old_share + v * share
        total = total * old_share + share
        top = new
    tl.store(out + row * width + i, rounded(mixed / total, out.dtype.element_ty), mask=inside)


@triton.jit
def _gated_norm(o, weight, gate, out, heads, width, eps, HEADS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    i = tl.arange(0, BLOCK)
    inside = (head < heads)[:, None] & (i < width)[None, :]
    at = (row * heads + head)[:, None] * width + i[None, :]
    v = tl.load(o + at, mask=inside, other=0.0).to(tl.float32)
    v *= tl.rsqrt(tl.sum(v * v, 1) / width + eps)[:, None]
    v *= tl.load(weight + i, mask=i < width, other=0.0).to(tl.float32)[None, :]
    v *= sigmoid(tl.load(gate + at, mask=inside, other=0.0).to(tl.float32))
    tl.store(out + at, rounded(v, out.dtype.element_ty), mask=inside)


@triton.jit
def _gated(x, gate, out, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < count, other=0.0).to(tl.float32)
    g = tl.load(gate + i, mask=i < count, other=0.0).to(tl.float32)
    tl.store(out + i, rounded(v * sigmoid(g), out.dtype.element_ty), mask=i < count)


@triton.jit
def _glu(
    both, out, width, SITU: tl.constexpr, beta, linear_beta, BOUNDED: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = i < width
    gate = tl.load(both + row * 2 * width + i, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(both + row * 2 * width + width + i, mask=inside, other=0.0).to(tl.float32)
    made = gated_unit(gate, up, SITU, beta, linear_beta, BOUNDED)
    tl.store(out + row * width + i, rounded(made, out.dtype.element_ty), mask=inside)
