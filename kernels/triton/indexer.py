"""The indexer: scores of all earlier tokens, then the k best by radix selection, exactly and in every tie alike."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.layout import Sequences
from kernels.triton.linear import narrow, precision
from kernels.triton.shared import blocks, check, check_whole, dot, power_of_two, take, tile_of, tiles
from kernels.triton.topk import select

ROWS = 8
"""Queries that share a program's keys."""
KEYS = 64
SCRATCH = 1 << 26
"""Scores that are held at a time; more rows are taken in turns."""


def index_topk(
    q: Tensor, weights: Tensor, pages: Tensor, sequences: Sequences, k: int, *, exact: bool
) -> Tensor:
    """Scores leave out the positive factors that change no order."""
    check(q, weights, pages)
    check_whole(pages)
    rows, heads = weights.shape
    out = torch.empty((rows, k), dtype=torch.int32, device=q.device)
    if not rows:
        return out
    s = sequences
    across, page, width = s.table.shape[1], pages.shape[1], pages.shape[2]
    count, most = s.slots.shape[0], s.table.shape[1] * pages.shape[1]
    held = power_of_two(count)
    together = 1 if s.single else ROWS
    ends, bound = tiles(s, together, rows)
    seen = _seen(s, rows)
    turn = max(together, min(rows, SCRATCH // most))
    scores = torch.empty((turn, most), dtype=torch.float32, device=q.device)
    for first in range(0, rows, turn):
        now = min(turn, rows - first)
        _scores[(bound, blocks(most, KEYS))](
            q.contiguous(), weights.contiguous(), pages, s.starts, s.lengths, s.table, ends, scores, first, now,
            count, held, across, page, width, heads, most, narrow(q, pages, exact), precision(exact),
            together, KEYS, power_of_two(heads, 16), power_of_two(width, 16),
        )  # fmt: skip
        select(scores[:now], seen[first : first + now], out[first : first + now])
    return out


def _seen(s: Sequences, rows: int) -> Tensor:
    """How many tokens each new row may look at. [N] int32, without asking the device."""
    at = torch.arange(rows, dtype=torch.int32, device=s.starts.device)
    number = torch.searchsorted(s.starts[1:].contiguous(), at, right=True)
    return s.lengths[number] - s.starts[1:][number] + at + 1


@triton.jit
def _scores(
    q, weights, pages, starts, lengths, table, ends, scores, turn, rows, count, HELD: tl.constexpr, across, page,
    width, heads, most, NARROW: tl.constexpr, PRECISION: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr,
    HEADS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    number, first, last = tile_of(ends, starts, tl.program_id(0), count, ROWS, HELD)
    s = tl.program_id(1) * KEYS + tl.arange(0, KEYS)
    length = tl.load(lengths + number, mask=number < count, other=0)
    stop = tl.minimum(tl.minimum(first + ROWS, last), turn + rows)
    begin = tl.maximum(first, turn)
    if (number < count) & (begin < stop) & (tl.program_id(1) * KEYS < length - last + stop):
        i = tl.arange(0, BLOCK)
        h = tl.arange(0, HEADS)
        there = s < length
        entry = tl.load(table + number.to(tl.int64) * across + s // page, mask=there, other=0)
        at = entry.to(tl.int64) * page + s % page
        keys = take(pages + at[None, :] * width + i[:, None], there[None, :] & (i < width)[:, None], NARROW)
        for n in range(0, stop - begin):
            row = begin.to(tl.int64) + n
            of_row = row * heads + h
            queries = take(
                q + of_row[:, None] * width + i[None, :], (h < heads)[:, None] & (i < width)[None, :], NARROW
            )
            by = tl.load(weights + of_row, mask=h < heads, other=0.0).to(tl.float32)
            found = dot(queries, keys, tl.zeros([HEADS, KEYS], tl.float32), PRECISION)
            found = tl.sum(tl.where(found > 0.0, found, 0.0) * by[:, None], 0)
            found = tl.where(found == 0.0, 0.0, found)  # −0 is no less than 0
            tl.store(scores + (row - turn) * most + s, found, mask=s < length - last + row + 1)
