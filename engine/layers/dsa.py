"""A full-attention layer: gated multi-head latent attention without positions, dense or over chosen tokens."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.config import ModelConfig
from kernels.dispatch import Ops

INDEXER_EPS = 1e-6


@dataclass(slots=True)
class IndexerWeights:
    """q: [heads·dim, q_lora]. k: [dim, hidden]. k_norm, k_bias: [dim]. weights: [heads, hidden]."""

    q: Tensor
    k: Tensor
    k_norm: Tensor
    k_bias: Tensor
    weights: Tensor


@dataclass(slots=True)
class MlaWeights:
    """q_a: [q_lora, hidden], q_norm: [q_lora], q_b: [H·(nope + shared), q_lora]; without compression q_a and q_norm
    are None and q_b reads the hidden width. kv_a: [kv_lora + shared, hidden]. kv_norm: [kv_lora]. k_b: [H, nope,
    kv_lora], v_b: [H, v, kv_lora]. gate: [H·v, hidden] or None. o: [hidden, H·v]."""

    q_a: Tensor | None
    q_norm: Tensor | None
    q_b: Tensor
    kv_a: Tensor
    kv_norm: Tensor
    k_b: Tensor
    v_b: Tensor
    gate: Tensor | None
    o: Tensor
    indexer: IndexerWeights | None


def dsa(
    x: Tensor, w: MlaWeights, config: ModelConfig, batch: Batch, pools: Pools, layer: int, ops: Ops
) -> Tensor:
    """x: [N, hidden], normed. Gives [N, hidden]; appends the latents and indexer keys to the cache."""
    compressed = x if w.q_a is None else ops.rms_norm(ops.linear(x, w.q_a), w.q_norm, config.eps)
    latents = pools.latents[layer]
    ops.write_latents(ops.linear(x, w.kv_a), w.kv_norm, config.eps, latents, batch.sequences)
    chosen = None
    if w.indexer is not None and config.indexer is not None:
        chosen = _choose(x, compressed, w.indexer, config.indexer.top_k, batch, pools.keys[layer], ops)
    q = ops.absorb(ops.linear(compressed, w.q_b), w.k_b)
    scale = (config.nope + config.shared_key) ** -0.5
    out = ops.mla_attention(q, latents, batch.sequences, chosen, config.kv_lora, scale)
    out = ops.expand(out, w.v_b, x.dtype)
    if w.gate is not None:
        out = ops.gated(out, ops.linear(x, w.gate))
    return ops.linear(out, w.o)


def _choose(
    x: Tensor, compressed: Tensor, w: IndexerWeights, top_k: int, batch: Batch, keys: Tensor, ops: Ops
) -> Tensor | None:
    """The positions that each new token attends to, or None where all of the past is."""
    ops.write_keys(ops.linear(x, w.k), w.k_norm, w.k_bias, INDEXER_EPS, keys, batch.sequences)
    if batch.longest <= top_k:
        return None
    return ops.index_topk(ops.linear(compressed, w.q), ops.linear(x, w.weights), keys, batch.sequences, top_k)
