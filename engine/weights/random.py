"""Random weights of any shape under their public names: for tests, oracles and benchmarks."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.weights import names
from kernels.reference.mxfp4 import pack


class RandomSource:
    """Weights drawn a tensor at a time, each from its own name and the seed: the same whatever is asked for first.

    Matrices are normal with a spread of in^-½, norms near one, decays in the range that training gives.
    `mxfp4` packs the routed experts.
    """

    def __init__(
        self, config: ModelConfig, seed: int = 0, *, mxfp4: bool = True, dtype: torch.dtype = torch.float32
    ):
        self.config, self.seed, self.mxfp4, self.dtype = config, seed, mxfp4, dtype
        self.shapes = dict(names.trunk(config))

    def tensor(self, name: str) -> Tensor:
        return self._draw(name, self.shapes[name])

    def expert(self, layer: int, expert: int, part: str) -> Tensor:
        inner, width = self.config.expert_inter, self.config.expert_width
        shape = (width, inner) if part == "w2" else (inner, width)
        return self._draw(names.expert_name(layer, expert, part), shape)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        whole = torch.stack([self.expert(layer, number, part) for number in range(self.config.experts)])
        return pack(whole) if self.mxfp4 else (whole,)

    def _draw(self, name: str, shape: names.Shape) -> Tensor:
        generator = torch.Generator().manual_seed(_seed_of(name, self.seed))
        drawn = torch.randn(shape, generator=generator)
        if name.endswith("A_log"):
            return drawn.abs().add(1).log()
        if name.endswith("dt_bias"):
            return drawn - 3
        if name.endswith(("norm.weight", "layernorm.weight", "norm0.weight", "norm1.weight")):
            return (1 + drawn * 0.1).to(self.dtype)
        if name.endswith(("k_norm.bias", "e_score_correction_bias")):
            return drawn * 0.02
        if name.endswith("embed_tokens.weight"):
            return (drawn * 0.5).to(self.dtype)
        if name.startswith(("vision_tower.", "mm_projector.")) and name.endswith((".bias", "pos_emb.weight")):
            return (drawn * 0.2).to(self.dtype)
        return (drawn * math.prod(shape[1:] or shape) ** -0.5).to(self.dtype)


def _seed_of(name: str, seed: int) -> int:
    import zlib

    return zlib.crc32(name.encode(), seed & 0xFFFFFFFF)
