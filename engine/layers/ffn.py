"""The feed-forward layers: a dense one, and the latent mixture of experts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from engine.config import ModelConfig
from kernels.dispatch import Ops
from kernels.layout import Activation


@dataclass(slots=True)
class DenseWeights:
    """gate, up: [I, hidden]. down: [hidden, I]."""

    gate: Tensor
    up: Tensor
    down: Tensor


@dataclass(slots=True)
class ExpertWeights:
    """Routed experts, stacked: each part (packed [E, out, in/2], scales [E, out, in/32]) in MXFP4, or a tuple of one
    plain tensor [E, out, in]."""

    gate: tuple[Tensor, ...]
    up: tuple[Tensor, ...]
    down: tuple[Tensor, ...]


class Elsewhere(Protocol):
    """Routed experts that are not all where the layer is: the same sum, computed by whoever has them."""

    def __call__(self, x: Tensor, ids: Tensor, weights: Tensor, activation: Activation) -> Tensor: ...


@dataclass(slots=True)
class MoeWeights:
    """router: [E, hidden]. bias: [E] fp32, the selection bias. latent_down: [latent, hidden], latent_norm: [latent],
    latent_up: [hidden, latent], None where experts work on the full width. shared: the shared experts as one.
    ahead: told what the router reads, before the experts compute."""

    router: Tensor
    bias: Tensor | None
    experts: ExpertWeights | Elsewhere
    latent_down: Tensor | None
    latent_norm: Tensor | None
    latent_up: Tensor | None
    shared: DenseWeights | None
    ahead: Callable[[Tensor], None] | None = None


def dense(x: Tensor, w: DenseWeights, activation: Activation, ops: Ops) -> Tensor:
    """x: [N, hidden], normed. Gives [N, hidden]."""
    return ops.linear(ops.glu(ops.linear(x, w.gate, w.up), activation), w.down)


def moe(x: Tensor, w: MoeWeights, config: ModelConfig, activation: Activation, ops: Ops) -> Tensor:
    """x: [N, hidden], normed: the router and the shared experts read it, the routed ones its latent."""
    ids, weights = ops.route(x, w.router, w.bias, config.top_k, config.router_scale, config.renormalise)
    if w.ahead is not None:
        w.ahead(x)
    z = x if w.latent_down is None else ops.linear(x, w.latent_down)
    if isinstance(w.experts, ExpertWeights):
        y = ops.experts(z, ids, weights, w.experts.gate, w.experts.up, w.experts.down, activation)
    else:
        y = w.experts(z, ids, weights, activation)
    if w.latent_norm is not None:
        y = ops.rms_norm(y, w.latent_norm, config.eps)
    if w.latent_up is not None:
        y = ops.linear(y, w.latent_up)
    return y if w.shared is None else ops.add(y, dense(x, w.shared, activation, ops))
