"""The k largest of each row and where they are: radix selection over bytes, four passes, then one that writes.

Floats are compared by their bits, turned so that they order as unsigned numbers. A pass counts how often each value of
the next byte follows the leading bytes that are known to be the k-th's; it reads the earlier counts itself, so that the
passes need nothing from the host. Rows are cut into spans: a row of a million scores is read by many programs.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.triton.shared import blocks

BLOCK = 1024
SPAN = 8 * BLOCK
"""Scores of a row that one program reads."""


def select(scores: Tensor, seen: Tensor, out: Tensor) -> None:
    """Positions of the k largest among the first `seen[n]` of each row, ascending, −1 after the last; of equal ones
    the lowest positions. scores: [N, L] fp32. seen: [N] int32. out: [N, k] int32."""
    rows, most = scores.shape
    k = out.shape[1]
    spans = blocks(most, SPAN)
    counts = torch.zeros((rows, 4, 256), dtype=torch.int32, device=scores.device)
    ahead = torch.empty((rows, spans, 2), dtype=torch.int32, device=scores.device)
    out.fill_(-1)
    grid = (rows, spans)
    for digit in range(4):
        _count[grid](scores, seen, counts, most, k, digit, SPAN, BLOCK)
    _tally[grid](scores, seen, counts, ahead, most, spans, k, SPAN, BLOCK)
    _write[grid](
        scores, seen, counts, ahead, out, most, spans, k, SPAN, BLOCK, max(16, triton.next_power_of_2(spans))
    )


@triton.jit
def _ordered(scores, mask):
    """Bits of fp32 as int64, in the order of the floats."""
    bits = tl.load(scores, mask=mask, other=0.0).to(tl.int32, bitcast=True)
    turned = tl.where(bits < 0, ~bits, bits | -2147483648)
    return turned.to(tl.uint32, bitcast=True).to(tl.int64)


@triton.jit
def _known(counts, row, k, DIGITS: tl.constexpr):
    """(leading bytes of the k-th largest, how many of its equals in them are still to be chosen)."""
    bins = tl.arange(0, 256)
    lead = tl.zeros([], tl.int64)
    wanted = k
    for digit in tl.static_range(DIGITS):
        here = tl.load(counts + (row * 4 + digit) * 256 + bins)
        above = tl.cumsum(here, 0, reverse=True) - here  # larger ones
        mine = (above < wanted) & (above + here >= wanted)
        lead = lead * 256 + tl.sum(tl.where(mine, bins, 0), 0).to(tl.int64)
        wanted -= tl.sum(tl.where(mine, above, 0), 0)
    return lead, wanted


@triton.jit
def _count(
    scores, seen, counts, most, k, DIGIT: tl.constexpr, SPAN: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SPAN
    number = tl.load(seen + row)
    if (number > k) & (first < number):
        lead, _ = _known(counts, row, k, DIGIT)
        for at in range(first, tl.minimum(first + SPAN, number), BLOCK):
            i = at + tl.arange(0, BLOCK)
            value = _ordered(scores + row * most + i, i < number)
            like = (i < number) & ((value >> (32 - 8 * DIGIT)) == lead)
            byte = ((value >> (24 - 8 * DIGIT)) & 255).to(tl.int32)
            found = tl.histogram(byte, 256, mask=like)
            tl.atomic_add(counts + (row * 4 + DIGIT) * 256 + tl.arange(0, 256), found, mask=found > 0)


@triton.jit
def _tally(
    scores, seen, counts, ahead, most, spans, k, SPAN: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """How many of a span are larger than the k-th, and how many equal to it."""
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SPAN
    number = tl.load(seen + row)
    more = 0
    equal = 0
    if (number > k) & (first < number):
        lead, _ = _known(counts, row, k, 4)
        for at in range(first, tl.minimum(first + SPAN, number), BLOCK):
            i = at + tl.arange(0, BLOCK)
            value = _ordered(scores + row * most + i, i < number)
            more += tl.sum(((value > lead) & (i < number)).to(tl.int32), 0)
            equal += tl.sum(((value == lead) & (i < number)).to(tl.int32), 0)
    tl.store(ahead + (row * spans + tl.program_id(1)) * 2, more)
    tl.store(ahead + (row * spans + tl.program_id(1)) * 2 + 1, equal)


@triton.jit
def _write(
    scores, seen, counts, ahead, out, most, spans, k,
    SPAN: tl.constexpr, BLOCK: tl.constexpr, HELD: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SPAN
    number = tl.load(seen + row)
    stop = tl.minimum(first + SPAN, number)
    if number <= k:
        for at in range(first, stop, BLOCK):
            i = at + tl.arange(0, BLOCK)
            tl.store(out + row * k + i, i, mask=i < number)
    else:
        if first < number:
            lead, wanted = _known(counts, row, k, 4)
            span = tl.arange(0, HELD)
            earlier = span < tl.program_id(1)
            more = tl.sum(tl.load(ahead + (row * spans + span) * 2, mask=earlier, other=0), 0)
            equal = tl.sum(tl.load(ahead + (row * spans + span) * 2 + 1, mask=earlier, other=0), 0)
            for at in range(first, stop, BLOCK):
                i = at + tl.arange(0, BLOCK)
                value = _ordered(scores + row * most + i, i < number)
                larger = ((value > lead) & (i < number)).to(tl.int32)
                like = ((value == lead) & (i < number)).to(tl.int32)
                likes = tl.cumsum(like, 0)
                chosen = (larger > 0) | ((like > 0) & (equal + likes <= wanted))
                # Written so far: all larger ones, and of the equal ones as many as are wanted.
                place = more + tl.cumsum(larger, 0) + tl.minimum(equal + likes, wanted) - 1
                tl.store(out + row * k + place, i, mask=chosen)
                more += tl.sum(larger, 0)
                equal += tl.sum(like, 0)
