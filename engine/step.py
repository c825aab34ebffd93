"""Decode steps that are captured: one call from Python a token, not one a kernel."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.model import Model
from kernels.capture import CaptureError
from kernels.layout import Sequences

KEPT = 16
"""Shapes that are remembered, each with the memory of its step's intermediate results."""


@dataclass(slots=True)
class _Bound:
    """A batch whose tensors stay where they are, and the step recorded on them."""

    batch: Batch
    replay: Callable[[], Tensor]

    def set(self, batch: Batch) -> None:
        mine, new = self.batch.sequences, batch.sequences
        self.batch.tokens.copy_(batch.tokens)
        mine.lengths.copy_(new.lengths)
        mine.slots.copy_(new.slots)
        mine.table[:, : new.table.shape[1]].copy_(new.table)


class Steps:
    """`forward` of one model on one set of pools, recorded the first time a shape comes and replayed from then on.

    Recorded are batches of one new token a sequence, all of whose logits are wanted, where the kernels can be captured;
    everything else goes to the model as it is. The answers are the model's own, bit for bit.
    """

    def __init__(self, model: Model, pools: Pools) -> None:
        self._model, self._pools = model, pools
        self._bound: OrderedDict[tuple[int, int, bool], _Bound] = OrderedDict()
        self._capture = model.ops.capture

    def forward(self, batch: Batch) -> Tensor:
        """Logits [N, vocab] fp32, which the next call may overwrite."""
        if not self._fits(batch):
            return self._model.forward(batch, self._pools)
        key = self._shape(batch)
        bound = self._bound.get(key)
        if bound is None:
            return self._record(key, batch)
        self._bound.move_to_end(key)
        bound.set(batch)
        return bound.replay().float()

    def _fits(self, batch: Batch) -> bool:
        count = batch.tokens.shape[0]
        return (
            self._capture is not None
            and batch.sequences.single
            and count > 0
            and not batch.images
            and batch.wanted.shape[0] == count
        )

    def _shape(self, batch: Batch) -> tuple[int, int, bool]:
        """Tokens, width of the page table (a power of two), and whether the indexer chooses: what a step depends on."""
        indexer = self._model.config.indexer
        width = 1 << max(batch.sequences.table.shape[1] - 1, 0).bit_length()
        return batch.tokens.shape[0], width, indexer is not None and batch.longest > indexer.top_k

    def _record(self, key: tuple[int, int, bool], batch: Batch) -> Tensor:
        old, model = batch.sequences, self._model
        table = old.table.new_zeros((key[0], key[1]))
        table[:, : old.table.shape[1]] = old.table
        where = Sequences(old.starts.clone(), old.lengths.clone(), old.slots.clone(), table, True)
        own = Batch(batch.tokens.clone(), where, batch.wanted.clone(), batch.longest)
        assert self._capture is not None
        try:
            captured = self._capture(
                lambda: model.ops.linear(model.hidden(own, self._pools), model.weights.head)
            )
        except CaptureError as error:  # these dtypes have no compiled kernel, and never will
            self._capture = None
            logging.getLogger("engine").warning("slow: steps aren't replayed: %s", error)
            return error.result.float()
        self._bound[key] = _Bound(own, captured.replay)
        if len(self._bound) > KEPT:
            self._bound.popitem(last=False)
        return captured.result.float()
