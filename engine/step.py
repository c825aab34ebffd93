"""Decode steps that are captured: one call from Python a token, not one a kernel."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.batch import Batch
from engine.cache.pools import Pools
from engine.model import Model
from kernels.capture import CaptureError
from kernels.layout import Sequences

KEPT = 16
"""Shapes that are remembered, each with the memory of its step's intermediate results."""


class _Bound:
    """A batch whose tensors stay where they are, and the step recorded on them."""

    def __init__(self, batch: Batch, replay: Callable[[], Tensor], result: Tensor) -> None:
        self.replay, self._result = replay, result
        self._seen = result.numpy() if _lies_as_numpy(result) else None
        self._tensors = batch.tokens, batch.sequences.lengths, batch.sequences.slots, batch.sequences.table
        here = [tensor.cpu() for tensor in self._tensors]
        self._moved = [] if batch.tokens.device.type == "cpu" else list(zip(self._tensors, here, strict=True))
        # numpy writes a few numbers in a tenth of the time that torch takes
        self._tokens, self._lengths, self._slots, self._table = (tensor.numpy() for tensor in here)
        self._pages: list[list[int] | None] = [None] * len(self._tokens)
        """What stands in the rows of the table."""

    def set(self, batch: Batch) -> None:
        tokens, lengths, slots, table = self._tensors
        tokens.copy_(batch.tokens)
        lengths.copy_(batch.sequences.lengths)
        slots.copy_(batch.sequences.slots)
        table[:, : batch.sequences.table.shape[1]].copy_(batch.sequences.table)
        self._pages = [None] * len(self._pages)

    def put(
        self, tokens: Sequence[int], lengths: Sequence[int], slots: Sequence[int], pages: Sequence[list[int]]
    ) -> None:
        self._tokens[:] = tokens
        self._lengths[:] = lengths
        self._slots[:] = slots
        for row, own in enumerate(pages):
            if own != self._pages[row]:  # once a page: a row of a long text has thousands
                self._table[row, : len(own)] = own
                self._pages[row] = own.copy()
        for there, here in self._moved:
            there.copy_(here)

    def logits(self) -> NDArray[np.float32]:
        """What the last replay gave, in main memory."""
        return self._result.float().cpu().numpy() if self._seen is None else self._seen


def _lies_as_numpy(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.dtype == torch.float32


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
        key = self._key(batch.tokens.shape[0], batch.sequences.table.shape[1], batch.longest)
        bound = self._bound.get(key)
        if bound is None:
            return self._record(key, batch)
        self._bound.move_to_end(key)
        bound.set(batch)
        return bound.replay().float()

    def replay(
        self, tokens: Sequence[int], lengths: Sequence[int], slots: Sequence[int], pages: Sequence[list[int]]
    ) -> NDArray[np.float32] | None:
        """`forward` of one new token a sequence, given as numbers: a batch's tensors cost more than the rest of a small
        model's step. lengths: with the new token. None where no step of this shape has been recorded: nothing has been
        computed then."""
        key = self._key(len(tokens), max(map(len, pages)), max(lengths))
        bound = self._bound.get(key)
        if bound is None:
            return None
        self._bound.move_to_end(key)
        bound.put(tokens, lengths, slots, pages)
        bound.replay()
        return bound.logits()

    def _fits(self, batch: Batch) -> bool:
        count = batch.tokens.shape[0]
        return (
            self._capture is not None
            and batch.sequences.single
            and count > 0
            and not batch.images
            and batch.wanted.shape[0] == count
        )

    def _key(self, count: int, width: int, longest: int) -> tuple[int, int, bool]:
        """Tokens, width of the page table (a power of two), and whether the indexer chooses: what a step depends on."""
        indexer = self._model.config.indexer
        return count, 1 << max(width - 1, 0).bit_length(), indexer is not None and longest > indexer.top_k

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
        self._bound[key] = _Bound(own, captured.replay, captured.result)
        if len(self._bound) > KEPT:
            self._bound.popitem(last=False)
        return captured.result.float()
