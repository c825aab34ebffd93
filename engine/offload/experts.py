"""A layer's routed experts where not all are in memory: the same sum, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

import torch
from torch import Tensor

from engine.offload.kept import Kept
from engine.weights.checkpoint import Checkpoint
from kernels.capture import aside
from kernels.dispatch import REFERENCE, Ops
from kernels.layout import Activation

FEW = 4
"""Rows up to which it is worth guessing what they will ask for: a long prompt asks for nearly everything."""


class OffloadedExperts:
    """The routed experts of a layer, at most `slots` of them in memory. `ops` computes them on the CPU, wherever the
    tokens are. pool: whose thread reads ahead; None: nothing is. Not thread-safe: a forward pass has one caller at a
    time."""

    def __init__(
        self, checkpoint: Checkpoint, layer: int, slots: int, ops: Ops, pool: Executor | None = None
    ) -> None:
        """Errors: CapacityError for fewer slots than a token has experts."""
        self.kept = Kept(checkpoint, layer, slots)
        self._pool, self._top_k = pool, checkpoint.config.top_k
        # No compiled kernel reads fp16; resident experts of that type go to the reference too.
        half = self.kept.stacks[0][0].dtype == torch.float16
        self._compute = REFERENCE.experts if half else ops.experts

    def __call__(self, x: Tensor, ids: Tensor, weights: Tensor, activation: Activation) -> Tensor:
        """As `kernels.reference.mxfp4.experts`, bit for bit what that gives on resident ones. x may be on a GPU: it is
        the tokens that are moved, not the weights. Errors: CheckpointError."""
        out = torch.empty_like(x)
        aside(lambda: out.copy_(self._sum(x, ids, weights, activation)))
        return out

    def _sum(self, x: Tensor, ids: Tensor, weights: Tensor, activation: Activation) -> Tensor:
        x, ids, weights = x.cpu(), ids.cpu(), weights.cpu()
        asked: list[int] = ids.unique().tolist()
        self.kept.note(asked)
        if len(asked) <= self.kept.slots:
            self.kept.bring(asked)
            return self._compute(x, ids, weights, *self.kept.stacks, activation)
        return self._in_groups(asked, x, ids, weights, activation)

    def expect(self, ids: Tensor) -> None:
        """Begins to read what the next call will likely ask for, most asked for first. ids: [N, k]."""
        if self._pool is None or ids.shape[0] > FEW:
            return
        found, counts = ids.cpu().unique(return_counts=True)
        likely = found[counts.argsort(descending=True, stable=True)].tolist()
        self.kept.read_ahead(likely, (), self.kept.slots - self._top_k, self._pool, guessed=True)

    def _in_groups(
        self, asked: Sequence[int], x: Tensor, ids: Tensor, weights: Tensor, activation: Activation
    ) -> Tensor:
        """Every expert is read once. Groups come in the order of their experts' numbers, in which kernels sum. While
        one is computed the next is read."""
        kept, pool = self.kept, self._pool
        made = torch.zeros(x.shape, dtype=torch.float32)
        left = list(asked)
        while left:
            group = kept.group(left, kept.slots if pool is None else max(kept.slots // 2, 1))
            left = left[len(group) :]
            kept.bring(group, left)
            if pool is not None and left:
                kept.read_ahead(left, group, kept.slots, pool, guessed=False)
            there = torch.zeros(kept.stacks[0][0].shape[0], dtype=torch.bool)
            there[group] = True
            self._compute(x, ids.where(there[ids.long()], -1), weights, *kept.stacks, activation, onto=made)
        return made.to(x.dtype)
