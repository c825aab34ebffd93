"""A token of each sequence: the state decays, learns one key and is read, in one pass over it."""

from __future__ import annotations

import triton
import triton.language as tl

from kernels.triton.shared import sigmoid, softplus


@triton.jit
def log_decay(shifted, a_log, bound, BOUNDED: tl.constexpr):
    """`g` of `kernels.reference.kda.kda_inputs`."""
    rate = tl.exp(a_log)
    if BOUNDED:
        g = bound * sigmoid(rate * shifted)
    else:
        g = -rate * softplus(shifted)
    return g


@triton.jit
def step(
    qkv, decay, beta, a_log, dt_bias, states, slots, out, heads, width, unit, bound,
    BOUNDED: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    i = tl.arange(0, BLOCK)
    j = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    inside = i < width
    whole = heads * width
    at = row * 3 * whole + head * width
    q = tl.load(qkv + at + i, mask=inside, other=0.0).to(tl.float32)
    k = tl.load(qkv + at + whole + i, mask=inside, other=0.0).to(tl.float32)
    v = tl.load(qkv + at + 2 * whole + j, mask=j < width, other=0.0).to(tl.float32)
    q *= tl.rsqrt(tl.sum(q * q, 0) + 1e-6) * unit
    k *= tl.rsqrt(tl.sum(k * k, 0) + 1e-6)
    shifted = tl.load(decay + row * whole + head * width + i, mask=inside, other=0.0).to(tl.float32)
    shifted += tl.load(dt_bias + head * width + i, mask=inside, other=0.0).to(tl.float32)
    g = log_decay(shifted, tl.load(a_log + head).to(tl.float32), bound, BOUNDED)
    rate = sigmoid(tl.load(beta + row * heads + head).to(tl.float32))
    slot = tl.load(slots + row).to(tl.int64)
    pointer = states + ((slot * heads + head) * width + i[:, None]) * width + j[None, :]
    square = inside[:, None] & (j < width)[None, :]
    state = tl.load(pointer, mask=square, other=0.0) * tl.exp(g)[:, None]
    seen = tl.sum(state * k[:, None], 0)
    state += k[:, None] * (rate * (v - seen))[None, :]
    tl.store(pointer, state, mask=square)
    tl.store(out + row * whole + head * width + j, tl.sum(state * q[:, None], 0), mask=j < width)
