"""What passes of a model hold in memory beside its weights and caches: found by a pass that computes nothing."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import PAGE, Pools
from engine.model import Model
from engine.weights import names
from engine.weights.build import build
from engine.weights.checkpoint import Checkpoint
from kernels.dispatch import available
from kernels.layout import Sequences
from kernels.shapes import Shapes

_HALVING = "avx512bf16"


def held(
    checkpoint: Checkpoint, context: int, sequences: int, dtype: torch.dtype, budget: int, page: int = PAGE
) -> int:
    """Bytes that stay with the allocator and the compiled kernels after a prompt's `budget` tokens at the end of
    `context`, and steps of `sequences` tokens recorded at every width that page tables come to."""
    config = checkpoint.config
    weights = build(config, _Hollow(checkpoint))
    pages = -(-context // page)

    def run(tokens: int, texts: int, width: int) -> Shapes:
        shapes = Shapes(halved=available()[0] == _HALVING)
        model = Model(config, weights, shapes.table(), dtype)
        table = torch.zeros(texts, width, dtype=torch.int32)
        where = Sequences.of([tokens // texts] * texts, [context] * texts, [0] * texts, table).to("meta")
        numbers = torch.zeros(tokens, dtype=torch.int64, device="meta")
        batch = Batch(numbers, where, numbers[:texts], min(context, width * page))
        logits = model.ops.linear(
            model.hidden(batch, Pools.allocate(config, 1, 1, dtype, "meta", page)), weights.head
        )
        del logits
        return shapes

    long = run(min(budget, context), 1, pages)
    widths = {1 << bits for bits in range((pages - 1).bit_length() + 1)}
    return long.most + long.kept + sum(run(sequences, sequences, width).made for width in widths)


class _Hollow:
    """A checkpoint's tensors, all numbers of each at one place in memory. On `meta` joining tensors would import some
    150 MB of PyTorch."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint, self._experts = checkpoint, checkpoint.config.experts

    def tensor(self, name: str) -> Tensor:
        entry = self._checkpoint.entry(name)
        return torch.zeros(1, dtype=entry.dtype).expand(entry.shape)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        first = names.expert_name(layer, 0, part)
        entries = [self._checkpoint.entry(first + suffix) for suffix in self._checkpoint.suffixes(layer)]
        return tuple(torch.zeros(1, dtype=one.dtype).expand(self._experts, *one.shape) for one in entries)
