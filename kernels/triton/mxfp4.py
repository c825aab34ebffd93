"""MXFP4 as it is stored, times one row: the decode step's products, bound by reading the weights.

A code's three bits of magnitude, put into a float's lowest exponent bits and highest mantissa bit, are the number times
2^-126, the code ½ as a subnormal: no table is read. Sums over a word of eight codes are of x·2^64 so that nothing
vanishes, and made right before the block's scale is applied.
"""

from __future__ import annotations

import triton
import triton.language as tl

from kernels.triton.shared import gated_unit, rounded

UP = tl.constexpr(2.0**64)
REST = tl.constexpr(2.0**62)


@triton.jit
def code(words, PLACE: tl.constexpr):
    """The number in one of the eight places of uint32 words, times 2^-126, in fp32."""
    sign = (words << (28 - 4 * PLACE)) & 0x80000000
    if PLACE <= 5:
        magnitude = (words << (22 - 4 * PLACE)) & 0x01C00000
    else:
        magnitude = (words >> (4 * PLACE - 22)) & 0x01C00000
    return (sign | magnitude).to(tl.float32, bitcast=True)


@triton.jit
def scale(exponents):
    """2^(s − 127) of bytes; the byte 0 is 2^-127, a subnormal."""
    wide = exponents.to(tl.int32)
    return tl.where(wide == 0, 0x00400000, wide << 23).to(tl.float32, bitcast=True)


@triton.jit
def words_at(packed, at, mask):
    return tl.load(packed + at, mask=mask, other=0).to(tl.uint32, bitcast=True)


@triton.jit
def branches(
    x, ids, gate, gate_scales, up, up_scales, hidden, k, inner, words, SITU: tl.constexpr, beta, linear_beta,
    BOUNDED: tl.constexpr, TALL: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    """hidden [N·k, inner]: the activation of both branches of one pair, some rows of its expert."""
    pair = tl.program_id(1)
    row = (pair // k).to(tl.int64)
    o = tl.program_id(0) * TALL + tl.arange(0, TALL)
    expert = tl.load(ids + pair).to(tl.int64)
    of = (expert * inner + o)[:, None]
    one = tl.zeros([TALL], tl.float32)
    two = tl.zeros([TALL], tl.float32)
    for at in range(0, words, DEEP):
        j = at + tl.arange(0, DEEP)
        inside = (o < inner)[:, None] & (j < words)[None, :]
        w_gate = words_at(gate, of * words + j[None, :], inside)
        w_up = words_at(up, of * words + j[None, :], inside)
        s_gate = scale(tl.load(gate_scales + of * (words // 4) + (j // 4)[None, :], mask=inside, other=0))
        s_up = scale(tl.load(up_scales + of * (words // 4) + (j // 4)[None, :], mask=inside, other=0))
        part_one = tl.zeros([TALL, DEEP], tl.float32)
        part_two = tl.zeros([TALL, DEEP], tl.float32)
        for place in tl.static_range(8):
            v = tl.load(x + row * words * 8 + j * 8 + place, mask=j < words, other=0.0).to(tl.float32) * UP
            part_one += code(w_gate, place) * v[None, :]
            part_two += code(w_up, place) * v[None, :]
        one += tl.sum(part_one * REST * s_gate, 1)
        two += tl.sum(part_two * REST * s_up, 1)
    made = gated_unit(one, two, SITU, beta, linear_beta, BOUNDED)
    tl.store(hidden + pair.to(tl.int64) * inner + o, made, mask=o < inner)


@triton.jit
def mixed(
    hidden, ids, weights, down, scales, out, k, width, words, TALL: tl.constexpr, DEEP: tl.constexpr
):  # fmt: skip
    """out [N, width]: the weighted sum over a row's experts, in their order."""
    row = tl.program_id(1).to(tl.int64)
    o = tl.program_id(0) * TALL + tl.arange(0, TALL)
    total = tl.zeros([TALL], tl.float32)
    for n in range(k):
        pair = row * k + n
        expert = tl.load(ids + pair).to(tl.int64)
        of = (expert * width + o)[:, None]
        one = tl.zeros([TALL], tl.float32)
        for at in range(0, words, DEEP):
            j = at + tl.arange(0, DEEP)
            inside = (o < width)[:, None] & (j < words)[None, :]
            w = words_at(down, of * words + j[None, :], inside)
            s = scale(tl.load(scales + of * (words // 4) + (j // 4)[None, :], mask=inside, other=0))
            part = tl.zeros([TALL, DEEP], tl.float32)
            for place in tl.static_range(8):
                v = tl.load(hidden + pair * words * 8 + j * 8 + place, mask=j < words, other=0.0) * UP
                part += code(w, place) * v[None, :]
            one += tl.sum(part * REST * s, 1)
        total += one * tl.load(weights + pair)
    tl.store(out + row * width + o, rounded(total, out.dtype.element_ty), mask=o < width)
