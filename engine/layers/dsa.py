"""A full-attention layer: gated multi-head latent attention without positions, dense or over chosen tokens."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.config import ModelConfig
from kernels.dispatch import Ops


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


def dsa(x: Tensor, w: MlaWeights, config: ModelConfig, batch: Batch, pools: Pools, layer: int, ops: Ops) -> Tensor:
    """x: [N, hidden], normed. Gives [N, hidden]; appends the latents and indexer keys to the cache."""
    compressed = x
    if w.q_a is not None:
        compressed = ops.rms_norm(ops.linear(x, w.q_a), w.q_norm, config.eps)
    q = ops.linear(compressed, w.q_b).reshape(x.shape[0], config.heads, config.nope + config.shared_key)
    latent, shared = ops.linear(x, w.kv_a).split([config.kv_lora, config.shared_key], dim=-1)
    latent = torch.cat([ops.rms_norm(latent, w.kv_norm, config.eps), shared], dim=-1)
    ops.write_pages(pools.latents[layer], batch.table, batch.lengths, batch.starts, latent)

    chosen = None
    if w.indexer is not None:
        chosen = _choose(x, compressed, w.indexer, config, batch, pools, layer, ops)
    absorbed = torch.einsum("nhd,hdr->nhr", q[..., : config.nope].float(), w.k_b.float())
    q = torch.cat([absorbed, q[..., config.nope :].float()], dim=-1)
    scale = (config.nope + config.shared_key) ** -0.5
    out = ops.mla_attention(
        q, pools.latents[layer], batch.table, batch.lengths, batch.starts, chosen, config.kv_lora, scale
    )
    out = torch.einsum("nhr,hvr->nhv", out, w.v_b.float()).reshape(x.shape[0], -1)
    if w.gate is not None:
        out = out * torch.sigmoid(ops.linear(x, w.gate).float())
    return ops.linear(out.to(x.dtype), w.o)


def _choose(
    x: Tensor,
    compressed: Tensor,
    w: IndexerWeights,
    config: ModelConfig,
    batch: Batch,
    pools: Pools,
    layer: int,
    ops: Ops,
) -> Tensor | None:
    """The positions that each new token attends to, or None where all of the past is."""
    assert config.indexer is not None
    keys = ops.layer_norm(ops.linear(x, w.k), w.k_norm, w.k_bias, 1e-6)
    ops.write_pages(pools.keys[layer], batch.table, batch.lengths, batch.starts, keys)
    if max(batch.lengths) <= config.indexer.top_k:
        return None
    q = ops.linear(compressed, w.q).reshape(x.shape[0], config.indexer.heads, config.indexer.dim)
    weights = ops.linear(x, w.weights).float() * config.indexer.heads**-0.5
    return ops.index_topk(
        q, weights, pools.keys[layer], batch.table, batch.lengths, batch.starts, config.indexer.top_k
    )
