"""A Kimi Delta Attention layer."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.config import ModelConfig
from kernels.dispatch import Ops


@dataclass(slots=True)
class KdaWeights:
    """q, k, v: [H·d, hidden]. conv: [3·H·d, K]. f_a: [d, hidden], f_b: [H·d, d]: the decay. b: [H, hidden].
    a_log: [H], dt_bias: [H·d] fp32. gate: one matrix [H·d, hidden], or two of low rank. norm: [d].
    o: [hidden, H·d]."""

    q: Tensor
    k: Tensor
    v: Tensor
    conv: Tensor
    f_a: Tensor
    f_b: Tensor
    b: Tensor
    a_log: Tensor
    dt_bias: Tensor
    gate: tuple[Tensor, ...]
    norm: Tensor
    o: Tensor


def kda(
    x: Tensor, w: KdaWeights, config: ModelConfig, batch: Batch, pools: Pools, layer: int, ops: Ops
) -> Tensor:
    """x: [N, hidden], normed. Gives [N, hidden]; moves the sequences' states on."""
    qkv = ops.causal_conv(ops.linear(x, w.q, w.k, w.v), w.conv, pools.convs[layer], batch.sequences)
    decay = ops.linear(ops.linear(x, w.f_a), w.f_b)
    beta = ops.linear(x, w.b)
    state = pools.states[layer]
    out = ops.kda(qkv, decay, beta, w.a_log, w.dt_bias, config.gate_bound, state, batch.sequences)
    gate = x
    for part in w.gate:
        gate = ops.linear(gate, part)
    return ops.linear(ops.gated_norm(out, w.norm, gate, config.eps), w.o)
