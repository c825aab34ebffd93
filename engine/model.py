"""The forward pass, top to bottom as the paper has it.

h ← mix(bank, stream);  stream ← stream + attention(norm(h))      (attention residuals: at a block's first
h ← mix(bank, stream);  stream ← stream + ffn(norm(h))             layer the stream is banked and restarted)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.config import ModelConfig
from engine.errors import RequestError
from engine.layers.dsa import MlaWeights, dsa
from engine.layers.ffn import DenseWeights, MoeWeights, dense, moe
from engine.layers.kda import KdaWeights, kda
from engine.vision.tower import VisionWeights, encode
from kernels.dispatch import Ops

TEXT_ALONE = (
    "this model reads text alone: its checkpoint has no patch encoder; leave the pictures out or take another"
)


@dataclass(slots=True)
class LayerWeights:
    """norms: [hidden]; the residual scores: [hidden] fp32, or None where residuals are plain."""

    attention_norm: Tensor
    attention: KdaWeights | MlaWeights
    ffn_norm: Tensor
    ffn: DenseWeights | MoeWeights
    attention_score: Tensor | None = None
    ffn_score: Tensor | None = None


@dataclass(slots=True)
class ModelWeights:
    """embedding, head: [vocab, hidden]. norm: [hidden]. score: [hidden] or None. vision: None for a model of text."""

    embedding: Tensor
    layers: list[LayerWeights]
    norm: Tensor
    head: Tensor
    score: Tensor | None = None
    vision: VisionWeights | None = None


@dataclass(slots=True)
class Model:
    """A model ready to run: its shape, its weights, and the kernels that compute it."""

    config: ModelConfig
    weights: ModelWeights
    ops: Ops

    dtype: torch.dtype = torch.float32
    """Of activations."""

    def forward(self, batch: Batch, pools: Pools) -> Tensor:
        """Logits [len(wanted), vocab] fp32 of the wanted rows; the caches hold the new tokens after it."""
        return self.ops.linear(self.hidden(batch, pools), self.weights.head).float()

    def loglik(self, batch: Batch, pools: Pools, rows: Tensor, tokens: Tensor) -> Tensor:
        """Log-likelihoods [M] fp32 of tokens after wanted rows; logits aren't kept. rows, tokens: [M] int64; a row is
        counted among the wanted ones. The caches hold the new tokens after it."""
        return self.ops.loglik(self.hidden(batch, pools), self.weights.head, rows, tokens)

    def hidden(self, batch: Batch, pools: Pools) -> Tensor:
        """What the head reads: [len(wanted), hidden], normed."""
        stream = self.embed(batch)
        bank: list[Tensor] = []
        for number, layer in enumerate(self.weights.layers):
            x = self.mix(bank, stream, layer.attention_score)
            banked = self.config.attn_res_block > 0 and number % self.config.attn_res_block == 0
            if banked:
                bank.append(stream)
            x = self.attend(self.norm(x, layer.attention_norm), layer, number, batch, pools)
            stream = x if banked else self.ops.add(stream, x)
            x = self.mix(bank, stream, layer.ffn_score)
            stream = self.ops.add(stream, self.feed(self.norm(x, layer.ffn_norm), layer))
        x = self.mix(bank, stream, self.weights.score)
        return self.norm(self.ops.embed(batch.wanted, x, x.dtype), self.weights.norm)

    def see(self, canvases: Sequence[Tensor]) -> list[Tensor]:
        """Embeddings [tokens, hidden] of pictures ([height, width, 3] uint8 each, in whole tokens), packed in one pass.
        Errors: RequestError for a model of text."""
        if self.weights.vision is None or self.config.vision is None:
            raise RequestError(TEXT_ALONE)
        return encode(canvases, self.weights.vision, self.config.vision, self.ops, self.dtype)

    def embed(self, batch: Batch) -> Tensor:
        """[N, hidden]: the tokens' embeddings, images' where they stand."""
        x = self.ops.embed(batch.tokens, self.weights.embedding, self.dtype)
        for row, image in batch.images:
            x[row : row + image.shape[0]] = image.to(x.dtype)
        return x

    def mix(self, bank: list[Tensor], stream: Tensor, score: Tensor | None) -> Tensor:
        return stream if score is None else self.ops.attn_res([*bank, stream], score, self.config.eps)

    def norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return self.ops.rms_norm(x, weight, self.config.eps)

    def attend(self, x: Tensor, layer: LayerWeights, number: int, batch: Batch, pools: Pools) -> Tensor:
        if isinstance(layer.attention, KdaWeights):
            return kda(x, layer.attention, self.config, batch, pools, number, self.ops)
        return dsa(x, layer.attention, self.config, batch, pools, number, self.ops)

    def feed(self, x: Tensor, layer: LayerWeights) -> Tensor:
        activation = self.config.glu
        if isinstance(layer.ffn, DenseWeights):
            return dense(x, layer.ffn, activation, self.ops)
        return moe(x, layer.ffn, self.config, activation, self.ops)
