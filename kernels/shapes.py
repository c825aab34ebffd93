"""Operations that compute nothing: results of the right shapes on `meta`, and the bytes that they and the compiled
kernels would hold."""

from __future__ import annotations

import weakref
from collections import defaultdict
from dataclasses import fields, replace

import torch
from torch import Tensor

from kernels.dispatch import REFERENCE, Ops
from kernels.layout import Activation, Sequences

_BLOCK, _GROUP, _QUANT = 32, 16, 52
"""Columns of an int8 block, blocks that are padded to, and bytes of one (`quant_bytes` in kernels.h)."""
_SCORES = 16 << 20
"""Scores that the indexer holds at once, at most (`index_topk` in ops_attention.cpp)."""


class Shapes:
    """Counts what a pass over tensors on `meta` would take on a CPU. most: bytes of results that live at once, at most.
    made: of all results, as a recorded step keeps them."""

    def __init__(self, halved: bool) -> None:
        """halved: whether activations are rounded to bf16 for products with weights of bf16."""
        self.most = self.made = 0
        self._halved, self._now = halved, 0
        self._kept: defaultdict[str, int] = defaultdict(int)

    @property
    def kept(self) -> int:
        """Bytes that the compiled kernels hold between calls, for the largest call so far (`scratch` in pool.cpp)."""
        return sum(self._kept.values())

    def table(self) -> Ops:
        """Without what pictures need."""
        own = [field.name for field in fields(Ops) if hasattr(self, field.name)]
        return replace(REFERENCE, **{name: getattr(self, name) for name in own})

    def embed(self, tokens: Tensor, table: Tensor, dtype: torch.dtype) -> Tensor:
        return self._new((tokens.shape[0], table.shape[1]), dtype)

    def linear(self, x: Tensor, *weights: Tensor) -> Tensor:
        if self._halved and x.dtype == torch.float32 and any(one.dtype == torch.bfloat16 for one in weights):
            self._keep("a", 2 * x.numel())
        return self._new((x.shape[0], sum(weight.shape[0] for weight in weights)), x.dtype)

    def add(self, one: Tensor, two: Tensor) -> Tensor:
        return self._like(one)

    def rms_norm(self, x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
        return self._like(x)

    def attn_res(self, streams: list[Tensor], score: Tensor, eps: float) -> Tensor:
        return streams[0] if len(streams) == 1 else self._like(streams[-1])

    def causal_conv(self, x: Tensor, weight: Tensor, states: Tensor, sequences: Sequences) -> Tensor:
        return self._like(x)

    def kda(self, qkv: Tensor, decay: Tensor, beta: Tensor, *rest: object) -> Tensor:
        heads = beta.shape[1]
        return self._new((qkv.shape[0], heads, decay.shape[1] // heads), torch.float32)

    def gated_norm(self, o: Tensor, weight: Tensor, gate: Tensor, eps: float) -> Tensor:
        return self._like(gate)

    def write_latents(self, *arguments: object) -> None: ...

    def write_keys(self, *arguments: object) -> None: ...

    def index_topk(self, q: Tensor, weights: Tensor, pool: Tensor, sequences: Sequences, k: int) -> Tensor:
        longest = sequences.table.shape[1] * pool.shape[1]
        self._keep("out", 4 * longest * min(q.shape[0], max(1, _SCORES // longest)))
        return self._new((q.shape[0], k), torch.int32)

    def absorb(self, q: Tensor, k_b: Tensor) -> Tensor:
        heads, nope, rank = k_b.shape
        return self._new((q.shape[0], heads, rank + q.shape[1] // heads - nope), torch.float32)

    def mla_attention(
        self, q: Tensor, pool: Tensor, sequences: Sequences, chosen: Tensor | None, rank: int, scale: float
    ) -> Tensor:
        return self._new((q.shape[0], q.shape[1], rank), torch.float32)

    def expand(self, o: Tensor, v_b: Tensor, dtype: torch.dtype) -> Tensor:
        return self._new((o.shape[0], v_b.shape[0] * v_b.shape[1]), dtype)

    def gated(self, x: Tensor, gate: Tensor) -> Tensor:
        return self._like(x)

    def glu(self, both: Tensor, activation: Activation) -> Tensor:
        return self._new((both.shape[0], both.shape[1] // 2), both.dtype)

    def route(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, k: int, scale: float, renormalise: bool
    ) -> tuple[Tensor, Tensor]:
        self._keep("out", 4 * x.shape[0] * weight.shape[0])
        return self._new((x.shape[0], k), torch.int32), self._new((x.shape[0], k), torch.float32)

    def experts(
        self, x: Tensor, ids: Tensor, weights: Tensor, gate: tuple[Tensor, ...], *rest: object
    ) -> Tensor:
        pairs, inner, packed = ids.numel(), gate[0].shape[1], len(gate) > 1
        self._keep("a", x.shape[0] * _ready(x.shape[1], packed))
        self._keep("b", pairs * _ready(inner, packed))
        self._keep("c", 4 * pairs * inner)
        return self._like(x)

    def _like(self, x: Tensor) -> Tensor:
        return self._new(tuple(x.shape), x.dtype)

    def _new(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        made = torch.empty(shape, dtype=dtype, device="meta")
        size = made.numel() * made.element_size()
        self.made += size
        self._now += size
        self.most = max(self.most, self._now)
        weakref.finalize(made, self._drop, size)
        return made

    def _drop(self, size: int) -> None:
        self._now -= size

    def _keep(self, slot: str, size: int) -> None:
        self._kept[slot] = max(self._kept[slot], size)


def _ready(width: int, packed: bool) -> int:
    """Bytes of a row that is ready for products with experts."""
    return -(-width // _BLOCK // _GROUP) * _GROUP * _QUANT if packed else 4 * width
