"""What tells one model's caches from another's."""

from __future__ import annotations

from hashlib import blake2b

from engine.cache.disk import to_bytes
from engine.cache.pools import Pools
from engine.model import Model

_VALUES = 4096


def fingerprint(model: Model, pools: Pools, identity: str = "") -> str:
    """Of a model's shape, samples of its weights, and the caches' layout: other weights' states must never be taken
    for its own. identity: what the caller knows beside, such as a checkpoint's digest."""
    weights = model.weights
    digest = blake2b(digest_size=16)
    digest.update(repr((model.config, pools.page, model.dtype, identity)).encode())
    samples = [weights.norm, weights.embedding.flatten()[:_VALUES], weights.head.flatten()[-_VALUES:]]
    for layer in weights.layers:
        samples += [layer.attention_norm, layer.ffn_norm, layer.attention.o.flatten()[:_VALUES]]
    if weights.vision is not None:
        samples += [
            weights.vision.patch.weight.flatten()[:_VALUES],
            weights.vision.second.weight.flatten()[:_VALUES],
        ]
    for sample in samples:
        digest.update(to_bytes(sample))
    return digest.hexdigest()
