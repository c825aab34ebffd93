"""What running a checkpoint takes, and what its experts have done since."""

from __future__ import annotations

import torch

from engine.cache.pools import PAGE
from engine.config import ModelConfig
from engine.layers.ffn import MoeWeights
from engine.model import Model
from engine.offload.experts import OffloadedExperts
from engine.offload.kept import Counters
from engine.offload.plan import Needs
from engine.weights import names
from engine.weights.checkpoint import Checkpoint
from engine.weights.inspect import pools_bytes, predict

_FEWEST, _MOST, _STATES = 8, 40, 32 << 20
"""Slots where nobody says how many: so many at least, and more as long as their states take no more bytes."""


def usual_slots(config: ModelConfig) -> int:
    """Sequences that compute at once where nobody says: many of a small model, whose passes cost little more for it."""
    one = pools_bytes(config, 0, 1, torch.float32)
    return min(max(_STATES // max(one, 1), _FEWEST), _MOST)


def needs(checkpoint: Checkpoint, pages: int, slots: int = 1, ram: int = 0) -> Needs:
    """pages, slots, ram: as `engine.api.Caches` has them. Nothing is loaded."""
    config = checkpoint.config
    layers = {layer: _expert_bytes(checkpoint, layer) for layer in names.moe_layers(config)}
    said = predict(checkpoint, PAGE)
    caches = pools_bytes(config, pages, slots, torch.float32)
    routed = config.experts * sum(layers.values())
    fixed = said.total - said.process - said.caches - routed + caches
    return Needs(said.process + ram, fixed, layers, config.experts, config.top_k)


def counted(model: Model) -> Counters | None:
    """Of all layers whose experts aren't all resident, together; None where there are none."""
    whole = None
    for layer in model.weights.layers:
        if isinstance(layer.ffn, MoeWeights) and isinstance(layer.ffn.experts, OffloadedExperts):
            whole = whole or Counters()
            whole.add(layer.ffn.experts.kept.counters)
    return whole


def _expert_bytes(checkpoint: Checkpoint, layer: int) -> int:
    return sum(
        checkpoint.entry(names.expert_name(layer, 0, part) + suffix).bytes
        for part in names.EXPERT_PARTS
        for suffix in checkpoint.suffixes(layer)
    )
