"""Latent attention over paged latents: a row's heads share what they read; long pasts are cut into spans."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.layout import Sequences
from kernels.triton.linear import narrow, precision
from kernels.triton.shared import blocks, check, check_whole, count_up_to, dot, narrowed, power_of_two, take

HEADS, KEYS = 32, 32
LEAST = 256
"""Keys of a span, at least."""
BUSY = 256
"""Programs that keep a device busy: with fewer, each row's keys are cut."""


def mla_attention(
    q: Tensor,
    pages: Tensor,
    sequences: Sequences,
    chosen: Tensor | None,
    rank: int,
    scale: float,
    *,
    exact: bool,
) -> Tensor:
    check(q, pages)
    check_whole(pages)
    s = sequences
    rows, heads, width = q.shape
    out = torch.empty((rows, heads, rank), dtype=torch.float32, device=q.device)
    if not rows:
        return out
    across, page = s.table.shape[1], pages.shape[1]
    k = across * page if chosen is None else chosen.shape[1]
    together = min(HEADS, power_of_two(heads, 16))
    groups = blocks(heads, together)
    spans = max(1, min(blocks(k, LEAST), BUSY // (rows * groups)))
    span = blocks(blocks(k, spans), KEYS) * KEYS
    spans = blocks(k, span)
    parts = out if spans == 1 else out.new_empty((spans, rows, heads, rank))
    sums = out.new_empty((spans, rows, heads, 2))
    picked = s.table if chosen is None else chosen.contiguous()
    count = s.slots.shape[0]
    _attend[(rows, groups, spans)](
        q.contiguous(), pages, s.starts, s.lengths, s.table, picked, parts, sums, rows, heads, rank, width, count,
        across, page, k, span, scale, chosen is not None, spans > 1, narrow(q, pages, exact), precision(exact),
        together, KEYS, power_of_two(rank, 16), power_of_two(width - rank, 16), power_of_two(count),
        num_warps=8, num_stages=2,
    )  # fmt: skip
    if spans > 1:
        _join[(rows, heads)](parts, sums, out, rows, heads, rank, spans, power_of_two(rank))
    return out


@triton.jit
def _attend(
    q, pages, starts, lengths, table, picked, parts, sums, rows, heads, rank, width, count, across, page, k, span,
    scale, SPARSE: tl.constexpr, CUT: tl.constexpr, NARROW: tl.constexpr, PRECISION: tl.constexpr,
    HEADS: tl.constexpr, KEYS: tl.constexpr, RANK: tl.constexpr, SHARED: tl.constexpr, HELD: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    h = tl.program_id(1) * HEADS + tl.arange(0, HEADS)
    number = count_up_to(starts + 1, row, count, HELD)
    seen = tl.load(lengths + number) - tl.load(starts + number + 1) + row + 1
    begin = tl.program_id(2) * span
    stop = tl.minimum(begin + span, tl.minimum(seen, k))
    of_row = row.to(tl.int64) * heads + h
    i = tl.arange(0, RANK)
    o = rank + tl.arange(0, SHARED)
    mine = h < heads
    plain = take(q + of_row[:, None] * width + i[None, :], mine[:, None] & (i < rank)[None, :], NARROW)
    other = take(q + of_row[:, None] * width + o[None, :], mine[:, None] & (o < width)[None, :], NARROW)
    top = tl.full([HEADS], -float("inf"), tl.float32)
    total = tl.zeros([HEADS], tl.float32)
    acc = tl.zeros([HEADS, RANK], tl.float32)
    for at in range(begin, stop, KEYS):
        j = at + tl.arange(0, KEYS)
        there = j < stop
        position = j
        if SPARSE:
            position = tl.load(picked + row.to(tl.int64) * k + j, mask=there, other=-1)
            there = there & (position >= 0)
            position = tl.where(there, position, 0)
        entry = tl.load(table + number.to(tl.int64) * across + position // page, mask=there, other=0)
        entry = (entry.to(tl.int64) * page + position % page) * width
        latent = take(pages + entry[:, None] + i[None, :], there[:, None] & (i < rank)[None, :], NARROW)
        shared = take(pages + entry[:, None] + o[None, :], there[:, None] & (o < width)[None, :], NARROW)
        found = dot(plain, tl.trans(latent), tl.zeros([HEADS, KEYS], tl.float32), PRECISION)
        found = dot(other, tl.trans(shared), found, PRECISION) * scale
        found = tl.where(there[None, :], found, -float("inf"))
        new = tl.maximum(top, tl.max(found, 1))
        level = tl.where(new == -float("inf"), 0.0, new)  # of a span of which nothing was chosen
        share = tl.exp(found - level[:, None])
        kept = tl.exp(top - level)
        total = total * kept + tl.sum(share, 1)
        acc = dot(narrowed(share, NARROW), latent, acc * kept[:, None], PRECISION)
        top = new
    to = tl.program_id(2).to(tl.int64) * rows * heads + of_row
    if CUT:
        tl.store(sums + to * 2, top, mask=mine)
        tl.store(sums + to * 2 + 1, total, mask=mine)
    else:
        acc = acc / total[:, None]
    tl.store(parts + to[:, None] * rank + i[None, :], acc, mask=mine[:, None] & (i < rank)[None, :])


@triton.jit
def _join(parts, sums, out, rows, heads, rank, spans, RANK: tl.constexpr):
    """The softmax over spans of what each found."""
    of_row = tl.program_id(0).to(tl.int64) * heads + tl.program_id(1)
    i = tl.arange(0, RANK)
    top = -float("inf")
    total = 0.0
    acc = tl.zeros([RANK], tl.float32)
    for span in range(spans):
        at = of_row + span * rows * heads
        theirs = tl.load(sums + at * 2)
        amount = tl.load(sums + at * 2 + 1)
        part = tl.load(parts + at * rank + i, mask=i < rank, other=0.0)
        new = tl.maximum(top, theirs)
        level = tl.where(new == -float("inf"), 0.0, new)
        kept = tl.exp(top - level)
        share = tl.exp(theirs - level)
        acc = acc * kept + part * share
        total = total * kept + amount * share
        top = new
    tl.store(out + of_row * rank + i, acc / total, mask=i < rank)
