"""The kernels of chunked Kimi Delta Attention; `kernels.triton.kda` calls them in this order.

Scratch, all fp32, padded with zeros to whole chunks of C tokens and D ≥ 16 channels: q, k, g [T, H, C, D], a chunk of
a sequence being a tile of T; `solves`, `reads` [T, H, C, C]; `values`, `weights` [T, H, C, D]; `total` [T, H, D].
"""

from __future__ import annotations

import triton
import triton.language as tl

from kernels.triton.kda_step import log_decay
from kernels.triton.shared import dot, sigmoid, tile_of


@triton.jit
def inputs(
    qkv, decay, a_log, dt_bias, q_out, k_out, g_out, ends, starts, count, HELD: tl.constexpr, heads, width, unit, bound,
    BOUNDED: tl.constexpr, CHUNK: tl.constexpr, SUB: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Unit queries (times d^-½) and keys, and the decays summed within each sub-chunk. A program a sub-chunk."""
    tile = tl.program_id(0) // (CHUNK // SUB)
    sub = tl.program_id(0) % (CHUNK // SUB)
    head = tl.program_id(1)
    number, first, last = tile_of(ends, starts, tile, count, CHUNK, HELD)
    if number < count:
        r = (first + sub * SUB + tl.arange(0, SUB)).to(tl.int64)
        i = tl.arange(0, BLOCK)
        inside = (r < last)[:, None] & (i < width)[None, :]
        whole = heads * width
        at = qkv + r[:, None] * 3 * whole + head * width + i[None, :]
        q = tl.load(at, mask=inside, other=0.0).to(tl.float32)
        k = tl.load(at + whole, mask=inside, other=0.0).to(tl.float32)
        q *= tl.rsqrt(tl.sum(q * q, 1) + 1e-6)[:, None] * unit
        k *= tl.rsqrt(tl.sum(k * k, 1) + 1e-6)[:, None]
        shifted = tl.load(decay + r[:, None] * whole + head * width + i[None, :], mask=inside, other=0.0).to(
            tl.float32
        )
        shifted += tl.load(dt_bias + head * width + i, mask=i < width, other=0.0).to(tl.float32)[None, :]
        g = log_decay(shifted, tl.load(a_log + head).to(tl.float32), bound, BOUNDED)
        g = tl.where(inside, g, 0.0)
        row = (tile.to(tl.int64) * heads + head) * CHUNK + sub * SUB + tl.arange(0, SUB)
        to = row[:, None] * BLOCK + i[None, :]
        tl.store(q_out + to, q)
        tl.store(k_out + to, k)
        tl.store(g_out + to, tl.cumsum(g, 0))


@triton.jit
def products(
    q_in, k_in, g_in, beta, solves, reads, ends, starts, count, HELD: tl.constexpr, heads,
    PRECISION: tl.constexpr, CHUNK: tl.constexpr, SUB: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Decayed products of a chunk's tokens: `solves` has β k·k below its diagonal blocks, and on them the inverses of
    their unit triangles; `reads` has q·k on and below the diagonal."""
    tile = tl.program_id(0)
    head = tl.program_id(1)
    number, first, last = tile_of(ends, starts, tile, count, CHUNK, HELD)
    if number < count:
        base = (tile.to(tl.int64) * heads + head) * CHUNK
        r = tl.arange(0, SUB)
        i = tl.arange(0, BLOCK)
        part = r[:, None] * BLOCK + i[None, :]
        square = r[:, None] * CHUNK + r[None, :]
        for a in range(CHUNK // SUB):
            at = (base + a * SUB) * BLOCK
            q = tl.load(q_in + at + part)
            k = tl.load(k_in + at + part)
            g = tl.load(g_in + at + part)
            row = first + a * SUB + r
            rate = sigmoid(
                tl.load(beta + row.to(tl.int64) * heads + head, mask=row < last, other=0.0).to(tl.float32)
            )
            q_now = q * tl.exp(g)
            k_now = k * tl.exp(g)
            between = tl.zeros([BLOCK], tl.float32)
            to = (base + a * SUB) * CHUNK
            for back in range(a):
                b = a - 1 - back
                other = (base + b * SUB) * BLOCK
                whole = tl.load(g_in + other + (SUB - 1) * BLOCK + i)
                rest = (between + whole)[None, :] - tl.load(g_in + other + part)
                columns = tl.trans(tl.load(k_in + other + part) * tl.exp(rest))
                none = tl.zeros([SUB, SUB], tl.float32)
                tl.store(solves + to + b * SUB + square, dot(k_now, columns, none, PRECISION) * rate[:, None])
                tl.store(reads + to + b * SUB + square, dot(q_now, columns, none, PRECISION))
                between += whole
            keys = tl.zeros([SUB, SUB], tl.float32)
            read = tl.zeros([SUB, SUB], tl.float32)
            for j in range(SUB):
                past = g - tl.load(g_in + at + j * BLOCK + i)[None, :]
                column = tl.load(k_in + at + j * BLOCK + i)[None, :] * tl.exp(tl.minimum(past, 0.0))
                here = r[None, :] == j
                keys = tl.where(here & (r > j)[:, None], tl.sum(k * column, 1)[:, None], keys)
                read = tl.where(here & (r >= j)[:, None], tl.sum(q * column, 1)[:, None], read)
            keys *= rate[:, None]
            inverse = (r[:, None] == r[None, :]).to(tl.float32)
            for j in range(1, SUB):
                row_j = tl.sum(tl.where((r == j)[:, None], keys, 0.0), 0)
                below = tl.sum(row_j[:, None] * inverse, 0)
                inverse = tl.where((r == j)[:, None], inverse - below[None, :], inverse)
            tl.store(solves + to + a * SUB + square, inverse)
            tl.store(reads + to + a * SUB + square, read)


@triton.jit
def solutions(
    qkv, beta, q_all, k_all, g_in, total, solves, values, weights, ends, starts, count, HELD: tl.constexpr,
    heads, width, PRECISION: tl.constexpr, CHUNK: tl.constexpr, SUB: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """`values` = T(β v) and `weights` = T(β k e^G) by substitution, a sub-chunk at a time. Leaves q e^G, k e^(G_C − G)
    and e^(G_C) behind."""
    tile = tl.program_id(0)
    head = tl.program_id(1)
    number, first, last = tile_of(ends, starts, tile, count, CHUNK, HELD)
    if number < count:
        base = (tile.to(tl.int64) * heads + head) * CHUNK
        r = tl.arange(0, SUB)
        i = tl.arange(0, BLOCK)
        part = r[:, None] * BLOCK + i[None, :]
        square = r[:, None] * CHUNK + r[None, :]
        whole = heads * width
        ends_at = tl.zeros([BLOCK], tl.float32)
        for a in range(CHUNK // SUB):
            ends_at += tl.load(g_in + (base + a * SUB + SUB - 1) * BLOCK + i)
        tl.store(total + (tile.to(tl.int64) * heads + head) * BLOCK + i, tl.exp(ends_at))
        before = tl.zeros([BLOCK], tl.float32)
        v0 = tl.zeros([SUB, BLOCK], tl.float32)
        v1 = v0
        v2 = v0
        w0 = v0
        w1 = v0
        w2 = v0
        for a in tl.static_range(CHUNK // SUB):
            at = (base + a * SUB) * BLOCK
            row = (first + a * SUB + r).to(tl.int64)
            there = row < last
            rate = sigmoid(tl.load(beta + row * heads + head, mask=there, other=0.0).to(tl.float32))[:, None]
            v = tl.load(
                qkv + row[:, None] * 3 * whole + 2 * whole + head * width + i[None, :],
                mask=there[:, None] & (i < width)[None, :],
                other=0.0,
            ).to(tl.float32)
            g = tl.load(g_in + at + part)
            since = tl.exp(before[None, :] + g)
            k = tl.load(k_all + at + part)
            right_v = v * rate
            right_w = k * rate * since
            to = (base + a * SUB) * CHUNK
            if a > 0:
                block = -tl.load(solves + to + square)
                right_v = dot(block, v0, right_v, PRECISION)
                right_w = dot(block, w0, right_w, PRECISION)
            if a > 1:
                block = -tl.load(solves + to + SUB + square)
                right_v = dot(block, v1, right_v, PRECISION)
                right_w = dot(block, w1, right_w, PRECISION)
            if a > 2:
                block = -tl.load(solves + to + 2 * SUB + square)
                right_v = dot(block, v2, right_v, PRECISION)
                right_w = dot(block, w2, right_w, PRECISION)
            inverse = tl.load(solves + to + a * SUB + square)
            none = tl.zeros([SUB, BLOCK], tl.float32)
            right_v = dot(inverse, right_v, none, PRECISION)
            right_w = dot(inverse, right_w, none, PRECISION)
            if a == 0:
                v0 = right_v
                w0 = right_w
            if a == 1:
                v1 = right_v
                w1 = right_w
            if a == 2:
                v2 = right_v
                w2 = right_w
            tl.store(values + at + part, right_v)
            tl.store(weights + at + part, right_w)
            tl.store(q_all + at + part, tl.load(q_all + at + part) * since)
            whole_sub = tl.load(g_in + (base + a * SUB + SUB - 1) * BLOCK + i)
            before += whole_sub
            after = tl.zeros([BLOCK], tl.float32)
            for later in tl.static_range(a + 1, CHUNK // SUB):
                after += tl.load(g_in + (base + later * SUB + SUB - 1) * BLOCK + i)
            rest = (after + whole_sub)[None, :] - g
            tl.store(k_all + at + part, k * tl.exp(rest))


@triton.jit
def carry(
    q_in, k_in, total, reads, values, weights, states, slots, out, ends, starts, count, HELD: tl.constexpr,
    heads, width, PRECISION: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The state through a sequence's chunks, and what each token reads of it. A program some columns of a head."""
    number = tl.program_id(0)
    head = tl.program_id(1)
    j = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    i = tl.arange(0, BLOCK)
    r = tl.arange(0, CHUNK)
    first = tl.load(starts + number)
    last = tl.load(starts + number + 1)
    if first < last:
        slot = tl.load(slots + number).to(tl.int64)
        pointer = states + ((slot * heads + head) * width + i[:, None]) * width + j[None, :]
        square = (i < width)[:, None] & (j < width)[None, :]
        state = tl.load(pointer, mask=square, other=0.0)
        chunks = (last - first + CHUNK - 1) // CHUNK
        tile = (tl.load(ends + number) - chunks).to(tl.int64)
        part = r[:, None] * BLOCK + i[None, :]
        columns = r[:, None] * BLOCK + j[None, :]
        for c in range(chunks):
            chunk = (tile + c) * heads + head
            base = chunk * CHUNK * BLOCK
            w = tl.load(weights + base + part)
            new = tl.load(values + base + columns) - dot(
                w, state, tl.zeros([CHUNK, COLUMNS], tl.float32), PRECISION
            )
            made = dot(tl.load(q_in + base + part), state, tl.zeros([CHUNK, COLUMNS], tl.float32), PRECISION)
            triangle = reads + chunk * CHUNK * CHUNK + r[:, None] * CHUNK + r[None, :]
            read = tl.load(triangle, mask=r[:, None] >= r[None, :], other=0.0)
            made = dot(read, new, made, PRECISION)
            row = (first + c * CHUNK + r).to(tl.int64)
            to = (row[:, None] * heads + head) * width + j[None, :]
            tl.store(out + to, made, mask=(row < last)[:, None] & (j < width)[None, :])
            state *= tl.load(total + chunk * BLOCK + i)[:, None]
            state = dot(tl.trans(tl.load(k_in + base + part)), new, state, PRECISION)
        tl.store(pointer, state, mask=square)
