"""The compiled kernels as `Ops`: memory for results is made here, everything else happens in `_native`.

Signatures and meaning are those of `kernels.reference`. What the kernels have no code for (other dtypes, rows that
aren't contiguous) raises `Unsupported` before anything is written; `kernels.dispatch` gives it to the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kernels.cpu import _native
from kernels.layout import Activation, Sequences

Unsupported = _native.Unsupported


def _where(s: Sequences) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return s.starts, s.lengths, s.slots, s.table


class CpuOps:
    """Every operation on one instruction set.

    isa: one of `names()`, empty for the best. exact: MXFP4 products in fp32, not with activations in int8 blocks of 32.
    Errors: ValueError for an instruction set that this machine lacks, and for shapes that don't fit.
    """

    def __init__(self, isa: str = "", exact: bool = False) -> None:
        self.native = _native.Native(isa, exact)

    def embed(self, tokens: Tensor, table: Tensor, dtype: torch.dtype) -> Tensor:
        out = table.new_empty((tokens.shape[0], table.shape[1]), dtype=dtype)
        self.native.embed(tokens, table, out)
        return out

    def linear(self, x: Tensor, *weights: Tensor) -> Tensor:
        out = x.new_empty((x.shape[0], sum(weight.shape[0] for weight in weights)))
        self.native.linear(x, weights, out)
        return out

    def add(self, one: Tensor, two: Tensor) -> Tensor:
        out = torch.empty_like(one)
        self.native.add(one, two, out)
        return out

    def rms_norm(self, x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
        out = x.new_empty(x.shape)
        self.native.rms_norm(_rows(x), weight, eps, _rows(out))
        return out

    def attn_res(self, streams: Sequence[Tensor], score: Tensor, eps: float) -> Tensor:
        if len(streams) == 1:
            return streams[0]
        out = torch.empty_like(streams[-1])
        self.native.attn_res(list(streams), score, eps, out)
        return out

    def causal_conv(self, x: Tensor, weight: Tensor, states: Tensor, sequences: Sequences) -> Tensor:
        out = torch.empty_like(x)
        self.native.causal_conv(x, weight, states, *_where(sequences), out)
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
        self.native.kda(qkv, decay, beta, a_log, dt_bias, bound, states, *_where(sequences), out)
        return out

    def gated_norm(self, o: Tensor, weight: Tensor, gate: Tensor, eps: float) -> Tensor:
        out = torch.empty_like(gate)
        self.native.gated_norm(o, weight, gate, eps, out)
        return out

    def write_latents(
        self, kv: Tensor, weight: Tensor, eps: float, pool: Tensor, sequences: Sequences
    ) -> None:
        self.native.write_latents(kv, weight, eps, pool, *_where(sequences))

    def write_keys(
        self, keys: Tensor, weight: Tensor, bias: Tensor, eps: float, pool: Tensor, sequences: Sequences
    ) -> None:
        self.native.write_keys(keys, weight, bias, eps, pool, *_where(sequences))

    def index_topk(self, q: Tensor, weights: Tensor, pool: Tensor, sequences: Sequences, k: int) -> Tensor:
        out = torch.empty((q.shape[0], k), dtype=torch.int32)
        self.native.index_topk(q, weights, pool, *_where(sequences), k, out)
        return out

    def absorb(self, q: Tensor, k_b: Tensor) -> Tensor:
        heads, nope, rank = k_b.shape
        out = torch.empty((q.shape[0], heads, rank + q.shape[1] // heads - nope))
        self.native.absorb(q, k_b, out)
        return out

    def mla_attention(
        self, q: Tensor, pool: Tensor, sequences: Sequences, chosen: Tensor | None, rank: int, scale: float
    ) -> Tensor:
        out = torch.empty((q.shape[0], q.shape[1], rank))
        self.native.mla_attention(q, pool, *_where(sequences), chosen, rank, scale, out)
        return out

    def expand(self, o: Tensor, v_b: Tensor, dtype: torch.dtype) -> Tensor:
        out = torch.empty((o.shape[0], v_b.shape[0] * v_b.shape[1]), dtype=dtype)
        self.native.expand(o, v_b, out)
        return out

    def gated(self, x: Tensor, gate: Tensor) -> Tensor:
        out = torch.empty_like(x)
        self.native.gated(x, gate, out)
        return out

    def glu(self, both: Tensor, activation: Activation) -> Tensor:
        out = both.new_empty((both.shape[0], both.shape[1] // 2))
        self.native.glu(both, *_activation(activation), out)
        return out

    def route(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, k: int, scale: float, renormalise: bool
    ) -> tuple[Tensor, Tensor]:
        ids = torch.empty((x.shape[0], k), dtype=torch.int32)
        weights = torch.empty((x.shape[0], k))
        self.native.route(x, weight, bias, k, scale, renormalise, ids, weights)
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
        self.native.experts(x, ids, weights, gate, up, down, *_activation(activation), out, more)
        return out


def _rows(x: Tensor) -> Tensor:
    return x if x.dim() == 2 else x.reshape(-1, x.shape[-1])


def _activation(activation: Activation) -> tuple[bool, float, float]:
    return activation.name == "situ", activation.beta, activation.linear_beta
