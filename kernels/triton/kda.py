"""Kimi Delta Attention: a step of one token, and whole texts in chunks of 64.

The chunked form is that of `kernels.reference.kda` in four kernels: inputs and running decays; products of keys with
keys and queries, and the inverse of each chunk's triangle; its solution; and the states, chunk after chunk. Decays are
summed within sub-chunks of 16 and multiplied over the whole ones between two tokens: each exponent is a sum of decays
alone, never above zero, so that nothing overflows and no large sums are subtracted.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Sequences
from kernels.triton import kda_chunks
from kernels.triton.kda_step import step
from kernels.triton.linear import precision
from kernels.triton.shared import blocks, check, check_whole, power_of_two, tiles

CHUNK, SUB = 64, 16
COLUMNS = 32
"""Values of a state that a program keeps: a head's state is cut along them."""


def kda(
    qkv: Tensor,
    decay: Tensor,
    beta: Tensor,
    a_log: Tensor,
    dt_bias: Tensor,
    bound: float | None,
    states: Tensor,
    sequences: Sequences,
    *,
    exact: bool,
) -> Tensor:
    check(qkv, decay, beta, a_log, dt_bias, states)
    check_whole(states)
    rows, heads = beta.shape
    width = states.shape[2]
    out = torch.empty((rows, heads, width), dtype=torch.float32, device=qkv.device)
    if rows:
        inputs = (qkv.contiguous(), decay.contiguous(), beta.contiguous(), a_log, dt_bias)
        run = _single if sequences.single else _chunked
        run(inputs, bound, states, sequences, out, exact)
    return out


def _single(
    inputs: tuple, bound: float | None, states: Tensor, s: Sequences, out: Tensor, exact: bool
) -> None:
    rows, heads, width = out.shape
    block = power_of_two(width)
    columns = min(block, COLUMNS)
    grid = (rows, heads, blocks(width, columns))
    step[grid](
        *inputs,
        states,
        s.slots,
        out,
        heads,
        width,
        width**-0.5,
        bound or 0.0,
        bound is not None,
        block,
        columns,
    )


def _chunked(
    inputs: tuple, bound: float | None, states: Tensor, s: Sequences, out: Tensor, exact: bool
) -> None:
    rows, heads, width = out.shape
    qkv, decay, beta, a_log, dt_bias = inputs
    block = power_of_two(width, 16)
    columns = min(block, COLUMNS)
    ends, most = tiles(s, CHUNK, rows)
    count = s.slots.shape[0]
    where = (ends, s.starts, count, power_of_two(count))

    def scratch(*shape: int) -> Tensor:
        return torch.empty((most, heads, *shape), dtype=torch.float32, device=out.device)

    q, k, g, values, weights = (scratch(CHUNK, block) for _ in range(5))
    solves, reads = scratch(CHUNK, CHUNK), scratch(CHUNK, CHUNK)
    total = scratch(block)
    size = (heads, width)
    kda_chunks.inputs[(most * (CHUNK // SUB), heads)](
        qkv,
        decay,
        a_log,
        dt_bias,
        q,
        k,
        g,
        *where,
        *size,
        width**-0.5,
        bound or 0.0,
        bound is not None,
        CHUNK,
        SUB,
        block,
    )
    kda_chunks.products[(most, heads)](
        q, k, g, beta, solves, reads, *where, heads, precision(exact), CHUNK, SUB, block, num_warps=8
    )
    kda_chunks.solutions[(most, heads)](
        qkv,
        beta,
        q,
        k,
        g,
        total,
        solves,
        values,
        weights,
        *where,
        *size,
        precision(exact),
        CHUNK,
        SUB,
        block,
        num_warps=8,
    )
    kda_chunks.carry[(count, heads, block // columns)](
        q, k, total, reads, values, weights, states, s.slots, out, *where, *size, precision(exact), CHUNK, block,
        columns, num_warps=8, num_stages=1,
    )  # fmt: skip
