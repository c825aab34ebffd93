"""A Kimi Delta Attention layer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
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


def kda(x: Tensor, w: KdaWeights, config: ModelConfig, batch: Batch, pools: Pools, layer: int, ops: Ops) -> Tensor:
    """x: [N, hidden], normed. Gives [N, hidden]; moves the sequences' states on."""
    heads = (x.shape[0], config.kda_heads, config.kda_dim)
    qkv = torch.cat([ops.linear(x, part) for part in (w.q, w.k, w.v)], dim=-1)
    qkv = ops.causal_conv(qkv, w.conv, pools.convs[layer], batch.slots, batch.starts)
    q, k, v = (part.reshape(heads) for part in qkv.chunk(3, dim=-1))
    decay = ops.linear(ops.linear(x, w.f_a), w.f_b).reshape(heads)
    q, k, decay = ops.kda_inputs(q, k, decay, w.a_log, w.dt_bias, config.gate_bound)
    beta = torch.sigmoid(ops.linear(x, w.b).float())
    single = batch.starts[-1] == len(batch.slots)
    run = ops.kda_recurrent if single else ops.kda_chunked
    out = run(q, k, v, decay, beta, pools.states[layer], batch.slots, batch.starts)
    gate = x
    for part in w.gate:
        gate = ops.linear(gate, part)
    out = ops.rms_norm(out, w.norm, config.eps) * torch.sigmoid(gate.float()).reshape(heads)
    return ops.linear(out.reshape(x.shape[0], -1).to(x.dtype), w.o)
