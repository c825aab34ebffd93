"""A layer's experts that are not all in memory: those that tokens ask for are read from disk into a bounded set.

Kept are the experts asked for most, older questions counting less and less: a plain least-recently-used set is emptied
of them by one long prompt, which asks for every expert once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.errors import CapacityError, CheckpointError
from engine.offload.arena import Arena
from engine.weights import names
from engine.weights.checkpoint import Checkpoint
from kernels.dispatch import REFERENCE, Ops
from kernels.layout import Activation

_DECAY = 0.95
"""What a question counts one call later."""


@dataclass(slots=True)
class Counters:
    """hits, misses: experts that a call asked for, once each. read: bytes from disk."""

    hits: int = 0
    misses: int = 0
    read: int = 0

    def add(self, other: Counters) -> None:
        self.hits += other.hits
        self.misses += other.misses
        self.read += other.read


class OffloadedExperts:
    """The routed experts of a layer, at most `slots` of them in memory. `ops` computes them on the CPU, wherever the
    tokens are. Not thread-safe: a forward pass has one caller at a time."""

    def __init__(self, checkpoint: Checkpoint, layer: int, slots: int, ops: Ops) -> None:
        """Errors: CapacityError for fewer slots than a token has experts."""
        if slots < checkpoint.config.top_k:
            raise CapacityError(
                f"layer {layer}: {slots} slots for experts, a token has {checkpoint.config.top_k}"
            )
        self.slots, self.counters = slots, Counters()
        self.resident: set[int] = set()
        self.last: int | None = None
        """The expert that the reference works on."""
        self._checkpoint, self._layer = checkpoint, layer
        self._packed = checkpoint.packed(layer)
        self._parts = [
            [
                Arena(
                    [
                        checkpoint.entry(names.expert_name(layer, expert, part) + suffix)
                        for expert in range(checkpoint.config.experts)
                    ]
                )
                for suffix in checkpoint.suffixes(layer)
            ]
            for part in names.EXPERT_PARTS
        ]
        # No compiled kernel reads fp16; resident experts of that type go to the reference too.
        half = self._parts[0][0].stack.dtype == torch.float16
        self._compute = REFERENCE.experts if half else ops.experts
        self._worth = [0.0] * checkpoint.config.experts
        self._unit = 1.0

    def __call__(self, x: Tensor, ids: Tensor, weights: Tensor, activation: Activation) -> Tensor:
        """As `kernels.reference.mxfp4.experts`, bit for bit what that gives on resident ones. x may be on a GPU: it is
        the tokens that are moved, not the weights."""
        home = x.device
        x, ids, weights = x.cpu(), ids.cpu(), weights.cpu()
        if self._compute is REFERENCE.experts:
            # It takes one expert at a time, for all rows: PyTorch's products depend on how many rows there are.
            self.last = None
            stacks = [tuple(_Asked(self, arena) for arena in part) for part in self._parts]
            return self._compute(x, ids, weights, *stacks, activation).to(home)
        stacks = [tuple(arena.stack for arena in part) for part in self._parts]
        made = []
        for rows, asked in self._turns(ids):
            self.hold(asked)
            made.append(self._compute(x[rows], ids[rows], weights[rows], *stacks, activation))
        whole = made[0] if len(made) == 1 else torch.cat(made) if made else torch.zeros_like(x)
        return whole.to(home)

    def hold(self, asked: Sequence[int]) -> None:
        """Makes experts resident, `slots` of them at most; of the others the least worth leave.
        Errors: CheckpointError."""
        self._unit /= _DECAY
        if self._unit > 1e100:
            self._worth = [worth / self._unit for worth in self._worth]
            self._unit = 1.0
        for expert in asked:
            self._worth[expert] += self._unit
        missing = [expert for expert in asked if expert not in self.resident]
        self.counters.hits += len(asked) - len(missing)
        self.counters.misses += len(missing)
        leaving = len(self.resident) + len(missing) - self.slots
        if leaving > 0:
            others = sorted(self.resident.difference(asked), key=lambda expert: (self._worth[expert], expert))
            for expert in others[:leaving]:
                self._drop(expert)
        for expert in missing:
            self._read(expert)

    def _read(self, expert: int) -> None:
        try:
            self._fill(expert)
        except CheckpointError:
            self._drop(expert)  # part of it may be there, which no count knows
            raise
        self.resident.add(expert)

    def _drop(self, expert: int) -> None:
        self.resident.discard(expert)
        for part in self._parts:
            for arena in part:
                arena.drop(expert)

    def _fill(self, expert: int) -> None:
        for part in self._parts:
            for arena in part:
                self.counters.read += arena.fill(expert)
            if self._packed:
                self._checkpoint.check_scales(part[-1].stack[expert], f"layer {self._layer}, expert {expert}")

    def _turns(self, ids: Tensor) -> Iterator[tuple[slice, list[int]]]:
        """Rows one after the other, as many at a time as there are slots for their experts."""
        first, asked = 0, set()
        for row, chosen in enumerate(ids.tolist()):
            if len(asked.union(chosen)) > self.slots:
                yield slice(first, row), sorted(asked)
                first, asked = row, set()
            asked.update(chosen)
        if asked:
            yield slice(first, len(ids)), sorted(asked)


class _Asked:
    """One part's stack, whose experts are read as they are indexed."""

    def __init__(self, experts: OffloadedExperts, arena: Arena) -> None:
        self._experts, self._arena = experts, arena

    def __getitem__(self, expert: int) -> Tensor:
        if expert != self._experts.last:
            self._experts.hold([expert])
            self._experts.last = expert
        return self._arena.stack[expert]
