"""Guesses what the next layer will ask for, so that its experts are read while this one computes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor

from engine.config import ModelConfig
from engine.layers.ffn import MoeWeights
from engine.model import ModelWeights
from engine.offload.experts import FEW, OffloadedExperts
from kernels.capture import aside
from kernels.dispatch import Ops


@dataclass(frozen=True, slots=True)
class Guess:
    """Called with what a layer's router reads: streams change slowly from layer to layer, so the next layer's router
    says much the same of it as of its own input. following: the next layer's."""

    following: MoeWeights
    experts: OffloadedExperts
    config: ModelConfig
    ops: Ops

    def __call__(self, x: Tensor) -> None:
        if x.shape[0] <= FEW:
            router, config = self.following, self.config
            ids, _ = self.ops.route(
                x, router.router, router.bias, config.top_k, config.router_scale, config.renormalise
            )
            aside(lambda: self.experts.expect(ids))


def link(weights: ModelWeights, config: ModelConfig, ops: Ops) -> None:
    """Lets each layer of experts tell the next one, where that one's aren't all resident."""
    layers = [layer.ffn for layer in weights.layers if isinstance(layer.ffn, MoeWeights)]
    for one, following in pairwise(layers):
        if isinstance(following.experts, OffloadedExperts):
            one.ahead = Guess(following, following.experts, config, ops)
