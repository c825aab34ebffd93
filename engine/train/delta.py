"""Kimi Delta Attention with gradients: all chunks of all sequences side by side, only the states one after the other.

The maths is that of `kernels.reference.kda`. Decays within a chunk are measured from the middle of a sub-chunk of 16
tokens, so no exponent passes 8 times the gate bound, or from the end of the sub-chunk before, so that they shrink.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn.functional import pad, softplus

from engine.train.fused import fused
from engine.train.packed import CHUNK, Packed

SUB = 16


def causal_conv(x: Tensor, weight: Tensor, _states: object, packed: Packed) -> Tensor:
    """As `kernels.reference.conv.causal_conv`, whose states are what stands before. x: [T, C]; weight: [C, K]."""
    out = _convolved(x, weight, packed.position)
    if packed.tree is None:
        return out
    rows, place, own = packed.tree.joints(weight.shape[1] - 1)
    begun = _convolved(x.index_select(0, rows), weight, place)
    return out.index_copy(0, rows[own], begun[own])


@fused
def _convolved(x: Tensor, weight: Tensor, position: Tensor) -> Tensor:
    wide, weight = x.float(), weight.float()
    kernel = weight.shape[1]
    mixed = wide * weight[:, -1]
    for back in range(1, kernel):
        seen = (position >= back)[:, None]
        mixed = mixed + pad(wide, (0, 0, back, 0))[: len(x)] * seen * weight[:, kernel - 1 - back]
    return (mixed * torch.sigmoid(mixed)).to(x.dtype)


def kda(
    qkv: Tensor,
    decay: Tensor,
    beta: Tensor,
    a_log: Tensor,
    dt_bias: Tensor,
    bound: float | None,
    _states: object,
    packed: Packed,
) -> Tensor:
    """As `kernels.reference.kda.kda`, whose states are what stands before. Gives [T, H, d] fp32."""
    real = packed.chunks < packed.places.shape[0]
    cut = Chunked.apply
    parts = prepared(cut(qkv, packed), cut(decay, packed), cut(beta, packed), a_log, dt_bias, bound, real)
    return Unchunked.apply(_scanned(parts, packed).transpose(1, 2), packed)


def _scanned(parts: tuple[Tensor, ...], packed: Packed) -> Tensor:
    """What goes on from others begins with the state that they end with."""
    tree, whole = packed.tree, sum(packed.widths)
    if tree is None:
        return Scan.apply(*parts, None, packed.widths)[0]
    out, states = Scan.apply(*(part[:whole] for part in parts), None, packed.widths)
    more, _ = Scan.apply(*(part[whole:] for part in parts), states[tree.sources], tree.widths)
    return torch.cat([out, more])


@fused
def prepared(
    qkv: Tensor,
    decay: Tensor,
    beta: Tensor,
    a_log: Tensor,
    dt_bias: Tensor,
    bound: float | None,
    real: Tensor,
) -> tuple[Tensor, ...]:
    """All of chunks that needs no state, as `Scan` takes it.

    qkv: [n, C, 3·H·d], decay: [n, C, H·d] and beta: [n, C, H], as `kda` has them. real: [n, C] bool, False where a
    chunk is longer than its sequence.
    """
    heads = beta.shape[2]
    q, k, v = (part.float() for part in _heads(qkv, 3 * heads).chunk(3, dim=1))
    g = _log_decay(_heads(decay, heads), a_log, dt_bias, bound) * real[:, None, :, None]
    strength = torch.sigmoid(beta.float()).transpose(1, 2)[..., None]
    return recurrence(_unit(q) * q.shape[-1] ** -0.5, _unit(k), v, g, strength)


def recurrence(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> tuple[Tensor, ...]:
    """q, k, g: [n, H, C, d]; v: [n, H, C, e]; beta: [n, H, C, 1]."""
    total = g.cumsum(2)
    keys, reads = _products(q, k, total)
    grown = total.exp()
    right = torch.cat([v, k * grown], dim=-1) * beta
    solved = torch.linalg.solve_triangular(_with_unit(keys * beta), right, upper=False, unitriangular=True)
    values, weights = solved.split([v.shape[-1], k.shape[-1]], dim=-1)
    last = total[:, :, -1:]
    kept = last.exp().transpose(2, 3)
    return q * grown, reads, values, weights, k * (last - total).exp(), kept


def _products(q: Tensor, k: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
    """`Σ_d k_id k_jd e^(G_id − G_jd)` below the diagonal, and the same of queries with it: [n, H, C, C] each."""
    size = k.shape[2]
    both = torch.cat([k[:, :, None], q[:, :, None]], dim=2)
    rows: list[Tensor] = []
    for first in range(0, size, SUB):
        part = slice(first, first + SUB)
        inside = total[:, :, part]
        middle = inside[:, :, SUB // 2, None].detach()
        left = both[:, :, :, part] * (inside - middle).exp()[:, :, None]
        blocks = [left @ (k[:, :, part] * (middle - inside).exp()).transpose(2, 3)[:, :, None]]
        if first:
            before = total[:, :, first - 1, None].detach()
            left = both[:, :, :, part] * (inside - before).exp()[:, :, None]
            right = k[:, :, :first] * (before - total[:, :, :first]).exp()
            blocks.insert(0, left @ right.transpose(2, 3)[:, :, None])
        rows.append(pad(torch.cat(blocks, dim=-1), (0, size - first - SUB)))
    keys, reads = torch.cat(rows, dim=3).unbind(2)
    # Above the diagonal the products may be infinite: chosen away, not multiplied, so that no gradient is NaN.
    return keys.tril(-1), reads.tril()


def _with_unit(below: Tensor) -> Tensor:
    return below + torch.eye(below.shape[-1], dtype=below.dtype, device=below.device)


def _heads(x: Tensor, heads: int) -> Tensor:
    """[n, C, heads·d] → [n, heads, C, d]."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def _unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def _log_decay(decay: Tensor, a_log: Tensor, dt_bias: Tensor, bound: float | None) -> Tensor:
    """decay: [n, H, C, d]. As in `kernels.reference.kda.kda_inputs`."""
    heads, width = decay.shape[1], decay.shape[3]
    shifted = decay.float() + dt_bias.float().view(heads, 1, width)
    rate = a_log.float().exp().view(heads, 1, 1)
    if bound is None:
        return -rate * softplus(shifted)
    return bound * torch.sigmoid(rate * shifted)


class Chunked(Function):
    """Rows [T, W] as they lie in chunks [n, C, W], zeros where there is none."""

    @staticmethod
    def forward(ctx, x: Tensor, packed: Packed) -> Tensor:
        ctx.packed = packed
        return _spread(x, packed)

    @staticmethod
    def backward(ctx, grad: Tensor):
        return grad.flatten(0, 1)[ctx.packed.places], None


class Unchunked(Function):
    """Chunks [n, C, …] back to rows [T, …]."""

    @staticmethod
    def forward(ctx, x: Tensor, packed: Packed) -> Tensor:
        ctx.packed = packed
        return x.flatten(0, 1)[packed.places]

    @staticmethod
    def backward(ctx, grad: Tensor):
        return _spread(grad, ctx.packed), None


def _spread(x: Tensor, packed: Packed) -> Tensor:
    out = x.new_zeros(packed.chunks.numel(), *x.shape[1:])
    out[packed.places] = x
    return out.unflatten(0, (-1, CHUNK))


class Scan(Function):
    """States from chunk to chunk: `N = U − W S; o = Q S + R N; S ← E·S + Kᵀ N`, for all sequences at once.

    queries, weights, keys: [n, H, C, d]; reads: [n, H, C, C]; values: [n, H, C, e]; kept: [n, H, d, 1]; first:
    [sequences, H, d, e], the states that they begin with, None for zeros. Gives o and the states that they end with.
    """

    @staticmethod
    def forward(ctx, queries, reads, values, weights, keys, kept, first, widths: tuple[int, ...]):
        states = values.new_empty(*keys.shape[:2], keys.shape[3], values.shape[3])
        new = torch.empty_like(values)
        state = values.new_zeros(widths[0], *states.shape[1:]) if first is None else first
        ends = torch.empty_like(state)
        at = 0
        for width in widths:
            part = slice(at, at + width)
            ends[width : len(state)] = state[width:]
            state = state[:width]
            states[part] = state
            new[part] = values[part] - weights[part] @ state
            state = kept[part] * state + keys[part].transpose(2, 3) @ new[part]
            at += width
        ends[: len(state)] = state
        ctx.save_for_backward(queries, reads, new, weights, keys, kept, states)
        ctx.widths = widths
        return queries @ states + reads @ new, ends

    @staticmethod
    def backward(ctx, grad: Tensor, grad_ends: Tensor):
        queries, reads, new, weights, keys, kept, states = ctx.saved_tensors
        grad_new = reads.transpose(2, 3) @ grad
        inward = queries.transpose(2, 3) @ grad
        after = torch.empty_like(states)
        state = states.new_zeros(0, *states.shape[1:])
        at = states.shape[0]
        for width in reversed(ctx.widths):
            at -= width
            part = slice(at, at + width)
            after[at : at + len(state)] = state
            after[at + len(state) : at + width] = grad_ends[len(state) : width]
            grad_new[part] += keys[part] @ after[part]
            state = inward[part] + kept[part] * after[part] - weights[part].transpose(2, 3) @ grad_new[part]
        back = states.transpose(2, 3)
        return (
            grad @ back,
            grad @ new.transpose(2, 3),
            grad_new,
            -(grad_new @ back),
            new @ after.transpose(2, 3),
            (states * after).sum(-1, keepdim=True),
            state if ctx.needs_input_grad[6] else None,
            None,
        )
