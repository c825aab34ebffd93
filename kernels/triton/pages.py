"""Appending to the paged caches, each new row under its norm."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from kernels.layout import Sequences
from kernels.triton.shared import check, check_whole, count_up_to, power_of_two, rounded


def write_latents(kv: Tensor, weight: Tensor, eps: float, pages: Tensor, sequences: Sequences) -> None:
    check(kv, weight, pages)
    rank = weight.shape[0]
    _append(_write_latents, kv, pages, sequences, (weight,), (rank, eps), power_of_two(kv.shape[1]))


def write_keys(
    keys: Tensor, weight: Tensor, bias: Tensor, eps: float, pages: Tensor, sequences: Sequences
) -> None:
    check(keys, weight, bias, pages)
    _append(_write_keys, keys, pages, sequences, (weight, bias), (eps,), power_of_two(keys.shape[1]))


def _append(
    kernel, rows: Tensor, pages: Tensor, s: Sequences, norm: tuple, numbers: tuple, block: int
) -> None:
    check_whole(pages)
    if not rows.shape[0]:
        return
    count = s.slots.shape[0]
    kernel[(rows.shape[0],)](
        rows.contiguous(), *norm, pages, s.starts, s.lengths, s.table, count, s.table.shape[1], pages.shape[1],
        rows.shape[1], *numbers, power_of_two(count), block,
    )  # fmt: skip


@triton.jit
def place(row, starts, lengths, table, count, across, page, HELD: tl.constexpr):
    """Which entry of the pool a new row is."""
    number = count_up_to(starts + 1, row, count, HELD)
    at = tl.load(lengths + number) - tl.load(starts + number + 1) + row
    return tl.load(table + number * across + at // page).to(tl.int64) * page + at % page


@triton.jit
def _write_latents(
    kv, weight, pages, starts, lengths, table, count, across, page, width, rank, eps,
    HELD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(kv + row.to(tl.int64) * width + i, mask=i < width, other=0.0).to(tl.float32)
    square = tl.sum(tl.where(i < rank, v * v, 0.0), 0)
    normed = v * tl.rsqrt(square / rank + eps) * tl.load(weight + i, mask=i < rank, other=0.0).to(tl.float32)
    v = tl.where(i < rank, rounded(normed, kv.dtype.element_ty).to(tl.float32), v)
    to = place(row, starts, lengths, table, count, across, page, HELD)
    tl.store(pages + to * width + i, rounded(v, pages.dtype.element_ty), mask=i < width)


@triton.jit
def _write_keys(
    keys, weight, bias, pages, starts, lengths, table, count, across, page, width, eps,
    HELD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < width
    v = tl.load(keys + row.to(tl.int64) * width + i, mask=inside, other=0.0).to(tl.float32)
    v = tl.where(inside, v - tl.sum(v, 0) / width, 0.0)
    v *= tl.rsqrt(tl.sum(v * v, 0) / width + eps)
    v = v * tl.load(weight + i, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(bias + i, mask=inside, other=0.0).to(tl.float32)
    v = rounded(v, keys.dtype.element_ty).to(tl.float32)
    to = place(row, starts, lengths, table, count, across, page, HELD)
    tl.store(pages + to * width + i, rounded(v, pages.dtype.element_ty), mask=inside)
