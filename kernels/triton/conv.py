"""The short causal convolution: one kernel for the rows, one that moves each sequence's state on."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.layout import Sequences
from kernels.triton.shared import blocks, check, check_whole, power_of_two, rounded, sigmoid


def causal_conv(x: Tensor, weight: Tensor, states: Tensor, sequences: Sequences) -> Tensor:
    check(x, weight, states)
    check_whole(weight, states)
    x = x.contiguous()
    rows, channels = x.shape
    kernel, count = weight.shape[1], sequences.slots.shape[0]
    out = torch.empty_like(x)
    if not out.numel():
        return out
    wide = min(power_of_two(channels), 128)
    tall = 1 if rows <= count else 16
    held = power_of_two(count)
    where = (sequences.starts, sequences.slots)
    grid = (blocks(rows, tall), blocks(channels, wide))
    _conv[grid](x, weight, states, *where, out, rows, channels, count, kernel, tall, wide, held)
    _move_on[(count, blocks(channels, wide))](x, states, *where, channels, kernel - 1, wide)
    return out


@triton.jit
def _conv(
    x, weight, states, starts, slots, out, rows, channels, count,
    KERNEL: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, HELD: tl.constexpr,
):  # fmt: skip
    r = tl.program_id(0) * TALL + tl.arange(0, TALL)
    c = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = (r < rows)[:, None] & (c < channels)[None, :]
    s = tl.arange(0, HELD)
    ends = tl.load(starts + 1 + s, mask=s < count, other=2147483647)
    number = tl.sum((ends[None, :] <= r[:, None]).to(tl.int32), 1)
    first = tl.load(starts + number, mask=r < rows, other=0)
    slot = tl.load(slots + number, mask=r < rows, other=0).to(tl.int64)
    acc = tl.zeros([TALL, WIDE], tl.float32)
    for j in tl.static_range(KERNEL):
        at = r - (KERNEL - 1) + j
        new = (at >= first)[:, None]
        now = tl.load(x + at.to(tl.int64)[:, None] * channels + c[None, :], mask=inside & new, other=0.0)
        kept = (slot[:, None] * channels + c[None, :]) * (KERNEL - 1) + (KERNEL - 1 + at - first)[:, None]
        before = tl.load(states + kept, mask=inside & (new == 0), other=0.0)
        w = tl.load(weight + c * KERNEL + j, mask=c < channels, other=0.0).to(tl.float32)
        acc += (now.to(tl.float32) + before.to(tl.float32)) * w[None, :]
    made = acc * sigmoid(acc)
    tl.store(
        out + r.to(tl.int64)[:, None] * channels + c[None, :],
        rounded(made, out.dtype.element_ty),
        mask=inside,
    )


@triton.jit
def _move_on(x, states, starts, slots, channels, KEPT: tl.constexpr, WIDE: tl.constexpr):
    """A thread has a channel to itself and goes up through its state: what it reads lies above what it wrote."""
    number = tl.program_id(0)
    c = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    inside = c < channels
    first = tl.load(starts + number)
    new = tl.load(starts + number + 1) - first
    state = states + (tl.load(slots + number).to(tl.int64) * channels + c) * KEPT
    if new > 0:
        for i in tl.static_range(KEPT):
            at = c * 0 + i + new  # in what was kept, then in what is new
            old = tl.load(state + at, mask=inside & (at < KEPT), other=0.0).to(tl.float32)
            row = (first + at - KEPT).to(tl.int64)
            now = tl.load(x + row * channels + c, mask=inside & (at >= KEPT), other=0.0).to(tl.float32)
            tl.store(state + i, rounded(old + now, states.dtype.element_ty), mask=inside)
