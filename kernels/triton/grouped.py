"""Products of many rows with the experts they go to, each tile of rows with one expert's MXFP4 or plain weights.

MXFP4 is made bf16 or fp32 in registers, exactly. Even and odd columns are multiplied apart, as they are packed.
"""

from __future__ import annotations

import triton
import triton.language as tl

from kernels.triton.mxfp4 import code, scale
from kernels.triton.shared import count_up_to, dot, gated_unit, narrowed, rounded, take

RIGHT = tl.constexpr(2.0**126)


@triton.jit
def tile_rows(order, edges, ends, number, TALL: tl.constexpr, HELD: tl.constexpr):
    """(expert, places in the sorted order, which of them there are, their pairs) of this program's tile."""
    tile = tl.program_id(1)
    expert = count_up_to(ends, tile, number, HELD)
    there = expert < number
    before = tl.load(ends + expert - 1, mask=there & (expert > 0), other=0)
    r = tl.load(edges + expert, mask=there, other=0) + (tile - before) * TALL + tl.arange(0, TALL)
    ok = r < tl.load(edges + expert + 1, mask=there, other=0)
    return expert, r.to(tl.int64), ok, tl.load(order + r, mask=ok, other=0)


@triton.jit
def times(
    acc, x, row, ok, weight, scales, expert, o, outs, inner,
    PLAIN: tl.constexpr, NARROW: tl.constexpr, PRECISION: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """`acc + x[row] W[expert, o]ᵀ`; W is [E, outs, inner]."""
    of = (expert.to(tl.int64) * outs + o)[None, :]
    if PLAIN:
        for at in range(0, inner, DEEP):
            i = at + tl.arange(0, DEEP)
            a = take(x + row[:, None] * inner + i[None, :], ok[:, None] & (i < inner)[None, :], NARROW)
            b = take(weight + of * inner + i[:, None], (o < outs)[None, :] & (i < inner)[:, None], NARROW)
            acc = dot(a, b, acc, PRECISION)
    else:
        half = inner // 2
        for at in range(0, half, DEEP):
            i = at + tl.arange(0, DEEP)
            inside = (o < outs)[None, :] & (i < half)[:, None]
            pointer = x + row[:, None] * inner + 2 * i[None, :]
            here = ok[:, None] & (i < half)[None, :]
            even = take(pointer, here, NARROW)
            odd = take(pointer + 1, here, NARROW)
            codes = tl.load(weight + of * half + i[:, None], mask=inside, other=0).to(tl.uint32)
            by = scale(tl.load(scales + of * (half // 16) + (i // 16)[:, None], mask=inside, other=0))
            acc = dot(even, narrowed(code(codes, 0) * RIGHT * by, NARROW), acc, PRECISION)
            acc = dot(odd, narrowed(code(codes, 1) * RIGHT * by, NARROW), acc, PRECISION)
    return acc


@triton.jit
def branches(
    x, gate, gate_scales, up, up_scales, hidden, order, edges, ends, number, HELD: tl.constexpr, k, inner, width,
    SITU: tl.constexpr, beta, linear_beta, BOUNDED: tl.constexpr,
    PLAIN: tl.constexpr, NARROW: tl.constexpr, PRECISION: tl.constexpr,
    TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """hidden [pairs in order, inner]: the activation of both branches."""
    expert, r, ok, pair = tile_rows(order, edges, ends, number, TALL, HELD)
    if expert < number:
        o = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
        row = (pair // k).to(tl.int64)
        none = tl.zeros([TALL, WIDE], tl.float32)
        one = times(
            none, x, row, ok, gate, gate_scales, expert, o, inner, width, PLAIN, NARROW, PRECISION, DEEP
        )
        two = times(none, x, row, ok, up, up_scales, expert, o, inner, width, PLAIN, NARROW, PRECISION, DEEP)
        made = rounded(gated_unit(one, two, SITU, beta, linear_beta, BOUNDED), hidden.dtype.element_ty)
        tl.store(hidden + r[:, None] * inner + o[None, :], made, mask=ok[:, None] & (o < inner)[None, :])


@triton.jit
def back(
    hidden, down, scales, weights, each, order, edges, ends, number, HELD: tl.constexpr, width, inner,
    PLAIN: tl.constexpr, NARROW: tl.constexpr, PRECISION: tl.constexpr,
    TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """each [N, k, width] fp32: what an expert gives back, weighted, where its pair stands."""
    expert, r, ok, pair = tile_rows(order, edges, ends, number, TALL, HELD)
    if expert < number:
        o = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
        acc = tl.zeros([TALL, WIDE], tl.float32)
        acc = times(acc, hidden, r, ok, down, scales, expert, o, width, inner, PLAIN, NARROW, PRECISION, DEEP)
        acc *= tl.load(weights + pair, mask=ok, other=0.0)[:, None]
        to = each + pair.to(tl.int64)[:, None] * width + o[None, :]
        tl.store(to, acc, mask=ok[:, None] & (o < width)[None, :])
