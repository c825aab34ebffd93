"""The routed experts: few rows a pair (token, expert) at a time, many grouped by expert.

Grouping is done on the device: pairs are sorted by expert and cut into tiles of one expert each; how many tiles there
can be is known beforehand, so nothing is asked of the device.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Activation
from kernels.triton import grouped, mxfp4
from kernels.triton.linear import precision
from kernels.triton.rows import unit
from kernels.triton.shared import Unsupported, blocks, check, check_whole, power_of_two

FEW = 4
"""Rows up to which each reads its experts' weights alone."""
TURN = 4096
"""Rows that are worked on at a time: each leaves k results in fp32 to be summed."""


def experts(
    x: Tensor,
    ids: Tensor,
    weights: Tensor,
    gate: tuple[Tensor, ...],
    up: tuple[Tensor, ...],
    down: tuple[Tensor, ...],
    activation: Activation,
    onto: Tensor | None = None,
    *,
    exact: bool,
) -> Tensor:
    if onto is not None:
        raise Unsupported("experts in several calls: tiles sum in an order of their own")
    plain = len(gate) == 1
    if not len(gate) == len(up) == len(down):
        raise Unsupported("experts that are partly MXFP4")
    check(x, *(gate + up + down if plain else ()))
    check_whole(*gate, *up, *down)
    x, ids, weights = x.contiguous(), ids.contiguous(), weights.float().contiguous()
    if not ids.numel():
        return torch.zeros_like(x)
    if not plain and x.shape[0] <= FEW:
        return _few(x, ids, weights, gate, up, down, activation)
    turns = [slice(first, first + TURN) for first in range(0, x.shape[0], TURN)]
    parts = [_many(x[t], ids[t], weights[t], gate, up, down, activation, exact) for t in turns]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _few(x, ids, weights, gate, up, down, activation: Activation) -> Tensor:
    (rows, width), k = x.shape, ids.shape[1]
    inner = gate[0].shape[1]
    hidden = torch.empty((rows * k, inner), dtype=torch.float32, device=x.device)
    out = torch.empty_like(x)
    tall, deep = 16, min(power_of_two(width // 8, 4), 64)
    mxfp4.branches[(blocks(inner, tall), rows * k)](
        x, ids, _words(gate[0]), gate[1], _words(up[0]), up[1], hidden, k, inner, width // 8, *unit(activation),
        tall, deep,
    )  # fmt: skip
    tall, deep = 8, min(power_of_two(inner // 8, 4), 128)
    mxfp4.mixed[(blocks(width, tall), rows)](
        hidden, ids, weights, _words(down[0]), down[1], out, k, width, inner // 8, tall, deep
    )
    return out


def _words(packed: Tensor) -> Tensor:
    """Eight codes in one number."""
    return packed.view(torch.int32)


def _many(x, ids, weights, gate, up, down, activation: Activation, exact: bool) -> Tensor:
    (rows, width), k = x.shape, ids.shape[1]
    number, inner = gate[0].shape[:2]
    pairs, plain = rows * k, len(gate) == 1
    tall = 16 if pairs <= 32 * number else 64
    wide, deep = (32, 64) if tall == 16 else (64, 32)
    narrow = not exact and (not plain or torch.bfloat16 in (x.dtype, gate[0].dtype))
    ordered, order = torch.sort(ids.flatten(), stable=True)
    edges = torch.searchsorted(ordered, torch.arange(number + 1, dtype=ids.dtype, device=x.device))
    ends = ((edges.diff() + (tall - 1)) // tall).cumsum(0).int()
    where = (order.int(), edges.int(), ends, number, power_of_two(number))
    most = pairs // tall + min(pairs, number)
    scales = [part[0] if plain else part[1] for part in (gate, up, down)]
    hidden = torch.empty((pairs, inner), dtype=torch.bfloat16 if narrow else torch.float32, device=x.device)
    grouped.branches[(blocks(inner, wide), most)](
        x, gate[0], scales[0], up[0], scales[1], hidden, *where, k, inner, width, *unit(activation),
        plain, narrow, precision(exact), tall, wide, deep,
    )  # fmt: skip
    each = torch.empty((rows, k, width), dtype=torch.float32, device=x.device)
    grouped.back[(blocks(width, wide), most)](
        hidden, down[0], scales[2], weights, each, *where, width, inner,
        plain, narrow, precision(exact), tall, wide, deep,
    )  # fmt: skip
    return each.sum(1).to(x.dtype)
