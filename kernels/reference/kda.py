"""Kimi Delta Attention: a delta rule whose state decays a channel at a time (Kimi Linear, arXiv 2510.26692).

S ← Diag(e^g) S;   S ← S + β k (v − Sᵀk)ᵀ;   o = Sᵀ q
"""

from __future__ import annotations

import torch
from torch import Tensor

from kernels.layout import Sequences
from kernels.reference.norm import rms_norm

CHUNK = 64
SUB = 16


def kda_inputs(
    q: Tensor, k: Tensor, decay: Tensor, a_log: Tensor, dt_bias: Tensor, bound: float | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries and keys of unit norm (the queries times d^-½), and the log decay.

    q, k, decay: [N, H, d]. a_log: [H]. dt_bias: [H·d]. With a `bound` (Kimi K3: −5)
    `g = bound·σ(exp(a_log)·(decay + dt_bias))`; without (Kimi-Linear)
    `g = −exp(a_log)·softplus(decay + dt_bias)`. Gives three fp32 tensors [N, H, d].
    """
    heads, width = q.shape[1:]
    shifted = decay.float() + dt_bias.float().view(heads, width)
    rate = a_log.float().exp()[:, None]
    if bound is None:
        log_decay = -rate * torch.nn.functional.softplus(shifted)
    else:
        log_decay = bound * torch.sigmoid(rate * shifted)
    return _unit(q) * width**-0.5, _unit(k), log_decay


def _unit(x: Tensor) -> Tensor:
    wide = x.float()
    return wide * torch.rsqrt(wide.square().sum(-1, keepdim=True) + 1e-6)


def kda(
    qkv: Tensor,
    decay: Tensor,
    beta: Tensor,
    a_log: Tensor,
    dt_bias: Tensor,
    bound: float | None,
    states: Tensor,
    sequences: Sequences,
) -> Tensor:
    """A layer's recurrence: token by token where each sequence has one new token, else in chunks.

    qkv: [N, 3·H·d], after the convolution. decay: [N, H·d] and beta: [N, H], before their activations. a_log,
    dt_bias, bound: as in `kda_inputs`. states: [P, H, d, d] fp32. Gives [N, H, d] fp32.
    """
    shape = (qkv.shape[0], beta.shape[1], -1)
    q, k, v = (part.reshape(shape) for part in qkv.chunk(3, dim=-1))
    q, k, g = kda_inputs(q, k, decay.reshape(shape), a_log, dt_bias, bound)
    run = kda_recurrent if sequences.single else kda_chunked
    return run(q, k, v, g, torch.sigmoid(beta.float()), states, sequences)


def kda_recurrent(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, states: Tensor, sequences: Sequences
) -> Tensor:
    """Token by token. q, k, g: [N, H, d] fp32; v: [N, H, e]; beta: [N, H]; states: [P, H, d, e] fp32, changed in
    place. Gives o: [N, H, e] fp32."""
    out = torch.empty(v.shape, dtype=torch.float32, device=v.device)
    for first, last, _, slot in sequences.rows():
        state = states[slot]
        for t in range(first, last):
            state = state * g[t].exp()[..., None]
            seen = torch.einsum("hde,hd->he", state, k[t])
            state = state + torch.einsum("hd,he->hde", beta[t, :, None] * k[t], v[t].float() - seen)
            out[t] = torch.einsum("hde,hd->he", state, q[t])
        states[slot] = state
    return out


def kda_chunked(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, states: Tensor, sequences: Sequences
) -> Tensor:
    """As `kda_recurrent`, a chunk of 64 tokens at a time, in matrix products (equal up to rounding)."""
    out = torch.empty(v.shape, dtype=torch.float32, device=v.device)
    for start, end, _, slot in sequences.rows():
        state = states[slot]
        for first in range(start, end, CHUNK):
            part = slice(first, min(first + CHUNK, end))
            own_q, own_k, own_v, own_g = (tensor[part].float().transpose(0, 1) for tensor in (q, k, v, g))
            result, state = _chunk(own_q, own_k, own_v, own_g, beta[part].float().T, state)
            out[part] = result.transpose(0, 1)
        states[slot] = state
    return out


def gated_norm(o: Tensor, weight: Tensor, gate: Tensor, eps: float) -> Tensor:
    """`RMSNorm_head(o) · σ(gate)`. o: [N, H, d]; weight: [d]; gate: [N, H·d]. Gives [N, H·d] in gate's dtype."""
    return (rms_norm(o.float(), weight, eps).flatten(1) * torch.sigmoid(gate.float())).to(gate.dtype)


def _chunk(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """One chunk. q, k, g: [H, C, d]; v: [H, C, e]; beta: [H, C]; state: [H, d, e]."""
    total = g.cumsum(1)
    keys = _decayed_products(k, k, total).tril(-1) * beta[..., None]
    reads = _decayed_products(q, k, total).tril()
    unit = torch.eye(k.shape[1], device=k.device).expand_as(keys)
    right = torch.cat([v * beta[..., None], k * total.exp() * beta[..., None]], dim=-1)
    solved = torch.linalg.solve_triangular(keys + unit, right, upper=False, unitriangular=True)
    values, weights = solved.split([v.shape[-1], k.shape[-1]], dim=-1)
    new = values - weights @ state
    out = (q * total.exp()) @ state + reads @ new
    last = total[:, -1:]
    state = last.transpose(1, 2).exp() * state + (k * (last - total).exp()).transpose(1, 2) @ new
    return out, state


def _decayed_products(left: Tensor, right: Tensor, total: Tensor) -> Tensor:
    """`Σ_d left_id right_jd e^(G_id − G_jd)` for i ≥ j, zero above the diagonal: [H, C, C].

    Decays have no bound in Kimi-Linear, and 64 steps at K3's reach e^-320, so e^-G alone is never formed. Rows are
    taken in sub-chunks: against earlier columns both exponents are measured from the sub-chunk's start and only
    ever shrink; within it the differences themselves are formed.
    """
    size = left.shape[1]
    out = left.new_zeros(left.shape[0], size, size)
    for first in range(0, size, SUB):
        part = slice(first, min(first + SUB, size))
        inside = total[:, part]
        if first:
            origin = inside[:, :1]
            rows = left[:, part] * (inside - origin).exp()
            columns = right[:, :first] * (origin - total[:, :first]).exp()
            out[:, part, :first] = rows @ columns.transpose(1, 2)
        differences = (inside[:, :, None] - inside[:, None]).clamp(max=0).exp()
        out[:, part, part] = torch.einsum(
            "hid,hjd,hijd->hij", left[:, part], right[:, part], differences
        ).tril()
    return out
