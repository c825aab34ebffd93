"""The compiled kernels as `Ops`: memory for results is made here, everything else happens in `_native`.

Signatures and meaning are those of `kernels.reference`. What the kernels have no code for (other dtypes, rows that
aren't contiguous) raises `Unsupported` before anything is written; `kernels.dispatch` gives it to the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch import to_dlpack as hand  # the kernels take tensors too, each 3 µs slower

from kernels.cpu import _native
from kernels.layout import Activation, Sequences

Unsupported = _native.Unsupported


def _where(s: Sequences) -> tuple[object, object, object, object]:
    return hand(s.starts), hand(s.lengths), hand(s.slots), hand(s.table)


def _any(x: Tensor | None) -> object:
    return None if x is None else hand(x)


def _all(tensors: Sequence[Tensor]) -> list[object]:
    return [hand(one) for one in tensors]


class CpuOps:
    """Every operation on one instruction set.

    isa: one of `names()`, empty for the best. exact: MXFP4 products in fp32, not with activations in int8 blocks of 32.
    Errors: ValueError for an instruction set that this machine lacks, and for shapes that don't fit.
    """

    def __init__(self, isa: str = "", exact: bool = False) -> None:
        self.native = _native.Native(isa, exact)

    def embed(self, tokens: Tensor, table: Tensor, dtype: torch.dtype) -> Tensor:
        out = table.new_empty((tokens.shape[0], table.shape[1]), dtype=dtype)
        self.native.embed(hand(tokens), hand(table), hand(out))
        return out

    def linear(self, x: Tensor, *weights: Tensor) -> Tensor:
        out = x.new_empty((x.shape[0], sum(weight.shape[0] for weight in weights)))
        self.native.linear(hand(x), _all(weights), hand(out))
        return out

    def loglik(self, x: Tensor, weight: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        out = torch.empty(rows.shape[0])
        self.native.loglik(hand(x), hand(weight), hand(rows), hand(tokens), hand(out))
        return out

    def add(self, one: Tensor, two: Tensor) -> Tensor:
        out = torch.empty_like(one)
        self.native.add(hand(one), hand(two), hand(out))
        return out

    def rms_norm(self, x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
        out = x.new_empty(x.shape)
        self.native.rms_norm(hand(_rows(x)), _any(weight), eps, hand(_rows(out)))
        return out

    def attn_res(self, streams: Sequence[Tensor], score: Tensor, eps: float) -> Tensor:
        if len(streams) == 1:
            return streams[0]
        out = torch.empty_like(streams[-1])
        self.native.attn_res(_all(streams), hand(score), eps, hand(out))
        return out

    def causal_conv(self, x: Tensor, weight: Tensor, states: Tensor, sequences: Sequences) -> Tensor:
        out = torch.empty_like(x)
        self.native.causal_conv(hand(x), hand(weight), hand(states), *_where(sequences), hand(out))
        return out

    def kda(
        self,
        qkv: Tensor,
        decay: Tensor,
        beta: Tensor,
        a_log: Tensor,
        dt_bias: Tensor,
        bound: float | None,
        states: Tensor,
        sequences: Sequences,
    ) -> Tensor:
        out = states.new_empty((qkv.shape[0], beta.shape[1], states.shape[-1]))
        self.native.kda(
            hand(qkv),
            hand(decay),
            hand(beta),
            hand(a_log),
            hand(dt_bias),
            bound,
            hand(states),
            *_where(sequences),
            hand(out),
        )
        return out

    def gated_norm(self, o: Tensor, weight: Tensor, gate: Tensor, eps: float) -> Tensor:
        out = torch.empty_like(gate)
        self.native.gated_norm(hand(o), hand(weight), hand(gate), eps, hand(out))
        return out

    def write_latents(
        self, kv: Tensor, weight: Tensor, eps: float, pool: Tensor, sequences: Sequences
    ) -> None:
        self.native.write_latents(hand(kv), hand(weight), eps, hand(pool), *_where(sequences))

    def write_keys(
        self, keys: Tensor, weight: Tensor, bias: Tensor, eps: float, pool: Tensor, sequences: Sequences
    ) -> None:
        self.native.write_keys(hand(keys), hand(weight), hand(bias), eps, hand(pool), *_where(sequences))

    def index_topk(self, q: Tensor, weights: Tensor, pool: Tensor, sequences: Sequences, k: int) -> Tensor:
        out = torch.empty((q.shape[0], k), dtype=torch.int32)
        self.native.index_topk(hand(q), hand(weights), hand(pool), *_where(sequences), k, hand(out))
        return out

    def absorb(self, q: Tensor, k_b: Tensor) -> Tensor:
        heads, nope, rank = k_b.shape
        out = torch.empty((q.shape[0], heads, rank + q.shape[1] // heads - nope))
        self.native.absorb(hand(q), hand(k_b), hand(out))
        return out

    def mla_attention(
        self, q: Tensor, pool: Tensor, sequences: Sequences, chosen: Tensor | None, rank: int, scale: float
    ) -> Tensor:
        out = torch.empty((q.shape[0], q.shape[1], rank))
        self.native.mla_attention(
            hand(q), hand(pool), *_where(sequences), _any(chosen), rank, scale, hand(out)
        )
        return out

    def expand(self, o: Tensor, v_b: Tensor, dtype: torch.dtype) -> Tensor:
        out = torch.empty((o.shape[0], v_b.shape[0] * v_b.shape[1]), dtype=dtype)
        self.native.expand(hand(o), hand(v_b), hand(out))
        return out

    def gated(self, x: Tensor, gate: Tensor) -> Tensor:
        out = torch.empty_like(x)
        self.native.gated(hand(x), hand(gate), hand(out))
        return out

    def glu(self, both: Tensor, activation: Activation) -> Tensor:
        out = both.new_empty((both.shape[0], both.shape[1] // 2))
        self.native.glu(hand(both), *_activation(activation), hand(out))
        return out

    def route(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, k: int, scale: float, renormalise: bool
    ) -> tuple[Tensor, Tensor]:
        ids = torch.empty((x.shape[0], k), dtype=torch.int32)
        weights = torch.empty((x.shape[0], k))
        self.native.route(hand(x), hand(weight), _any(bias), k, scale, renormalise, hand(ids), hand(weights))
        return ids, weights

    def experts(
        self,
        x: Tensor,
        ids: Tensor,
        weights: Tensor,
        gate: tuple[Tensor, ...],
        up: tuple[Tensor, ...],
        down: tuple[Tensor, ...],
        activation: Activation,
        onto: Tensor | None = None,
    ) -> Tensor:
        out = torch.empty_like(x) if onto is None else onto
        more = onto is not None
        parts = _all(gate), _all(up), _all(down)
        self.native.experts(
            hand(x), hand(ids), hand(weights), *parts, *_activation(activation), hand(out), more
        )
        return out


def _rows(x: Tensor) -> Tensor:
    return x if x.dim() == 2 else x.reshape(-1, x.shape[-1])


def _activation(activation: Activation) -> tuple[bool, float, float]:
    return activation.name == "situ", activation.beta, activation.linear_beta
