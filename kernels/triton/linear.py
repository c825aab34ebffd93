"""Matrix products of the trunk: few rows by a kernel that reads each weight once, many by PyTorch's own product."""

from __future__ import annotations

from functools import partial

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.reference import linear as plain
from kernels.triton.shared import blocks, check, dot, power_of_two, rounded, take

FEW = 16
"""Rows up to which a product is bound by reading the weights."""


def narrow(one: Tensor, two: Tensor, exact: bool) -> bool:
    """Whether a product of two tensors runs in bf16: where both are, or one is and that is near enough."""
    is_narrow = [tensor.dtype == torch.bfloat16 for tensor in (one, two)]
    return all(is_narrow) or (any(is_narrow) and not exact)


def precision(exact: bool) -> str:
    """How fp32 is multiplied: as it is, or as three tf32 products (errors near 1e-6)."""
    return "ieee" if exact else "tf32x3"


def linear(x: Tensor, *weights: Tensor, exact: bool) -> Tensor:
    check(x, *weights)
    rows = x.shape[0]
    out = x.new_empty((rows, sum(weight.shape[0] for weight in weights)))
    at = 0
    for weight in weights:
        part = out[:, at : at + weight.shape[0]]
        at += weight.shape[0]
        if rows <= FEW:
            product(x, weight, part, exact)
        elif x.dtype == weight.dtype:
            part.copy_(x @ weight.T)
        else:
            part.copy_(x.float() @ weight.float().T)
    return out


def loglik(x: Tensor, weight: Tensor, rows: Tensor, tokens: Tensor, *, exact: bool) -> Tensor:
    return plain.loglik(x, weight, rows, tokens, partial(linear, exact=exact))


def product(x: Tensor, weight: Tensor, out: Tensor, exact: bool) -> None:
    """`x Wᵀ` into `out`, whose dtype may be wider than x's. x: [N, in]; weight: [out, in]; out: [N, out]."""
    by_head(x[:, None], weight[None].transpose(1, 2), out[:, None], exact)


def by_head(x: Tensor, weight: Tensor, out: Tensor, exact: bool) -> None:
    """`out[n, h] = x[n, h] W[h]`. x: [N, H, in]; weight: [H, in, out]; out: [N, H, out]; any strides."""
    rows, heads, inner = x.shape
    outs = weight.shape[2]
    if not out.numel():
        return
    tall = 16 if rows <= FEW else 64
    wide = 16 if rows <= FEW else 64
    deep = min(power_of_two(inner, 16), 256 if rows <= FEW else 64)
    grid = (blocks(outs, wide), blocks(rows, tall), heads)
    _product[grid](
        x, weight, out, rows, inner, outs, *x.stride(), *weight.stride(), *out.stride(),
        narrow(x, weight, exact), precision(exact), tall, wide, deep,
    )  # fmt: skip


def absorb(q: Tensor, k_b: Tensor, *, exact: bool) -> Tensor:
    check(q, k_b)
    heads, nope, rank = k_b.shape
    q = q.unflatten(1, (heads, -1))
    out = torch.empty((q.shape[0], heads, rank + q.shape[2] - nope), dtype=torch.float32, device=q.device)
    by_head(q[..., :nope], k_b, out[..., :rank], exact)
    out[..., rank:] = q[..., nope:]
    return out


def expand(o: Tensor, v_b: Tensor, dtype: torch.dtype, *, exact: bool) -> Tensor:
    check(o, v_b)
    out = torch.empty((o.shape[0], v_b.shape[0], v_b.shape[1]), dtype=dtype, device=o.device)
    check(out)
    by_head(o, v_b.transpose(1, 2), out, exact)
    return out.flatten(1)


@triton.jit
def _product(
    x, weight, out, rows, inner, outs, x_row, x_head, x_in, w_head, w_in, w_out, o_row, o_head, o_out,
    NARROW: tl.constexpr, PRECISION: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(2).to(tl.int64)
    n = (tl.program_id(1) * TALL + tl.arange(0, TALL)).to(tl.int64)
    o = (tl.program_id(0) * WIDE + tl.arange(0, WIDE)).to(tl.int64)
    acc = tl.zeros([TALL, WIDE], tl.float32)
    for at in range(0, inner, DEEP):
        i = at + tl.arange(0, DEEP)
        a = take(
            x + head * x_head + n[:, None] * x_row + i[None, :] * x_in,
            (n < rows)[:, None] & (i < inner)[None, :],
            NARROW,
        )
        b = take(
            weight + head * w_head + i[:, None] * w_in + o[None, :] * w_out,
            (i < inner)[:, None] & (o < outs)[None, :],
            NARROW,
        )
        acc = dot(a, b, acc, PRECISION)
    to = out + head * o_head + n[:, None] * o_row + o[None, :] * o_out
    tl.store(to, rounded(acc, out.dtype.element_ty), mask=(n < rows)[:, None] & (o < outs)[None, :])
