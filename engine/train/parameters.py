"""The model's parameters by their public names, how they start, and the weights that a pass computes with."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.layers.dsa import MlaWeights
from engine.model import ModelWeights
from engine.train.plain import Apart
from engine.train.qat import Quantised
from engine.weights import names
from engine.weights.build import build

_KEPT = ("A_log", "dt_bias", "e_score_correction_bias")
"""Never rounded: the engine reads them in fp32 too."""
_SLOWEST, _FASTEST = 0.001, 0.7
"""Log decays a token that KDA's channels start with, evenly spread by their logarithm."""


class Parameters:
    """fp32 masters: `named` those that learn by gradients (a layer's experts of one part as a stack), `biases` the
    routers' selection biases, which are moved by loads."""

    def __init__(self, config: ModelConfig, seed: int = 0, device: torch.device | str = "cpu") -> None:
        self.config = config
        generator = torch.Generator().manual_seed(seed)
        self.named: dict[str, Tensor] = {}
        self.biases: dict[int, Tensor] = {}
        for name, shape in names.trunk(config):
            if name.endswith("e_score_correction_bias"):
                self.biases[int(name.split(".")[2])] = torch.zeros(shape, device=device)
            else:
                self.named[name] = _start(name, shape, config, generator)
        for layer in names.moe_layers(config):
            for part in names.EXPERT_PARTS:
                shape = (config.experts, config.expert_inter, config.expert_width)
                if part == "w2":
                    shape = (shape[0], shape[2], shape[1])
                self.named[stack_name(layer, part)] = _start(
                    stack_name(layer, part), shape, config, generator
                )
        for name, tensor in self.named.items():
            self.named[name] = tensor.to(device).requires_grad_()

    def weights(self, dtype: torch.dtype, quantised: bool) -> ModelWeights:
        """What `engine.model` computes with, gradients leading back to the masters. dtype: of products. quantised:
        routed experts as MXFP4 leaves them."""
        made = build(self.config, _Working(self, dtype, quantised))
        for layer in made.layers:
            if isinstance(layer.attention, MlaWeights) and layer.attention.indexer is not None:
                own = layer.attention.indexer
                own.q, own.k, own.weights = (cast(Tensor, Apart(one)) for one in (own.q, own.k, own.weights))
        return made

    def count(self) -> int:
        return sum(tensor.numel() for tensor in (*self.named.values(), *self.biases.values()))


def stack_name(layer: int, part: str) -> str:
    """The name of a layer's experts of one part, as one stack [E, out, in]."""
    return f"model.layers.{layer}.block_sparse_moe.experts.{part}.weight"


class Stored:
    """Parameters as a checkpoint has them: a `Source` for `engine.weights.save`. dtype: of matrices."""

    def __init__(self, parameters: Parameters, dtype: torch.dtype = torch.float32) -> None:
        self._of, self._dtype = parameters, dtype

    def tensor(self, name: str) -> Tensor:
        if name.endswith("e_score_correction_bias"):
            return self._of.biases[int(name.split(".")[2])].cpu()
        found = self._of.named[name].detach().cpu()
        return found if name.endswith(_KEPT) else found.to(self._dtype)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        return (self._of.named[stack_name(layer, part)].detach().cpu().to(self._dtype),)


class _Working:
    def __init__(self, parameters: Parameters, dtype: torch.dtype, quantised: bool) -> None:
        self._of, self._dtype, self._quantised = parameters, dtype, quantised

    def tensor(self, name: str) -> Tensor:
        if name.endswith("e_score_correction_bias"):
            return self._of.biases[int(name.split(".")[2])]
        found = self._of.named[name]
        # Embeddings are only looked up, and residual scores never leave fp32.
        exact = name.endswith(_KEPT) or "embed_tokens" in name or "_res_" in name
        return found if exact else found.to(self._dtype)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        master = self._of.named[stack_name(layer, part)]
        return ((Quantised.apply(master) if self._quantised else master).to(self._dtype),)


def _start(name: str, shape: names.Shape, config: ModelConfig, generator: torch.Generator) -> Tensor:
    drawn = torch.randn(shape, generator=generator)
    if name.endswith("A_log"):
        return torch.zeros(shape)
    if name.endswith("dt_bias"):
        spread = torch.rand(shape, generator=generator)
        decay = torch.exp(math.log(_SLOWEST) + spread * math.log(_FASTEST / _SLOWEST))
        if config.gate_bound is None:
            return torch.log(torch.expm1(decay))
        return torch.logit(decay / -config.gate_bound)
    if name.endswith(".bias") or name.endswith("_res_proj.weight"):
        return torch.zeros(shape)
    if name.endswith("norm.weight"):
        return torch.ones(shape)
    if name.endswith("embed_tokens.weight"):
        return drawn * 0.5
    if name.endswith("lm_head.weight"):
        return drawn * 0.02
    drawn *= math.prod(shape[1:] if "experts.w" not in name else shape[2:]) ** -0.5
    return drawn
