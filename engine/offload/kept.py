"""Which of a layer's experts are in memory: those that tokens ask for are read from disk into bounded room.

Kept are the experts asked for most, older questions counting less and less: a plain least-recently-used set is emptied
of them by one long prompt, which asks for every expert once.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, fields

from torch import Tensor

from engine.errors import CapacityError, CheckpointError
from engine.offload.arena import Arena
from engine.weights import names
from engine.weights.checkpoint import Checkpoint

_DECAY = 0.95
"""What a question counts one call later."""


@dataclass(slots=True)
class Counters:
    """hits, misses: experts that a call asked for, once each. read: bytes from disk. ahead: experts read on a
    guess; used: of those, which the next call asked for; they are hits. resident: bytes in memory now."""

    hits: int = 0
    misses: int = 0
    read: int = 0
    ahead: int = 0
    used: int = 0
    resident: int = 0

    def add(self, other: Counters) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Kept:
    """At most `slots` of a layer's experts in memory. One caller at a time: what it started to be read ahead is the
    only other hand here, and every call first waits for that."""

    def __init__(self, checkpoint: Checkpoint, layer: int, slots: int) -> None:
        """Errors: CapacityError for fewer slots than a token has experts."""
        config = checkpoint.config
        if slots < config.top_k:
            raise CapacityError(f"layer {layer}: {slots} slots for experts, a token has {config.top_k}")
        self.slots, self.counters = slots, Counters()
        self.resident: set[int] = set()
        self._checkpoint, self._layer = checkpoint, layer
        self._arenas = [
            [
                Arena(
                    [
                        checkpoint.entry(names.expert_name(layer, expert, part) + suffix)
                        for expert in range(config.experts)
                    ]
                )
                for suffix in checkpoint.suffixes(layer)
            ]
            for part in names.EXPERT_PARTS
        ]
        self.stacks: list[tuple[Tensor, ...]] = [
            tuple(arena.stack for arena in part) for part in self._arenas
        ]
        """Of each part; of an expert that isn't resident the numbers mean nothing."""
        self._each = sum(arena.each for part in self._arenas for arena in part)
        self._worth = [0.0] * config.experts
        self._unit = 1.0
        self._fresh: set[int] = set()
        self._coming: Future[None] | None = None
        self._enough = threading.Event()

    def note(self, asked: Collection[int]) -> None:
        """A call asks for these: they are worth more from now on."""
        self.settle()
        self._unit /= _DECAY
        if self._unit > 1e100:
            self._worth = [worth / self._unit for worth in self._worth]
            self._unit = 1.0
        for expert in asked:
            self._worth[expert] += self._unit
        there = self.resident.intersection(asked)
        self.counters.hits += len(there)
        self.counters.misses += len(asked) - len(there)
        self.counters.used += len(self._fresh & there)
        self._fresh.clear()

    def bring(self, experts: Sequence[int], later: Collection[int] = ()) -> None:
        """Makes experts resident, `slots` of them at most. Of the others the least worth leave, those of `later` only
        where there are no others, the last first. Errors: CheckpointError."""
        self.settle()
        missing = [expert for expert in experts if expert not in self.resident]
        leaving = len(self.resident) + len(missing) - self.slots
        if leaving > 0:
            others = self.resident.difference(experts)
            order = sorted(others.difference(later), key=self._value) + sorted(
                others.intersection(later), reverse=True
            )
            for expert in order[:leaving]:
                self._drop(expert)
        for expert in missing:
            self._read(expert)

    def group(self, left: Sequence[int], most: int) -> list[int]:
        """The first of `left` that are best brought together: as many as find room beside those of `left` that are
        there already, at most `most` of them missing."""
        room = min(self.slots - len(self.resident.intersection(left)), most)
        made: list[int] = []
        for expert in left:
            if expert not in self.resident:
                if room <= 0:
                    break
                room -= 1
            made.append(expert)
        return made or list(left[:1])

    def read_ahead(
        self, experts: Sequence[int], keep: Collection[int], most: int, pool: Executor, *, guessed: bool
    ) -> None:
        """Begins to read experts on a thread of `pool`, the first first, until somebody calls anything else here. At
        most `most` are read, in free room and in place of others that `keep` doesn't hold. guessed: nobody has asked
        for them yet."""
        self.settle()
        missing = [expert for expert in experts if expert not in self.resident][:most]
        if missing:
            self._enough.clear()
            self._coming = pool.submit(self._read_on, missing, {*experts, *keep}, guessed)

    def settle(self) -> None:
        """Ends what is read ahead: the expert at hand is waited for, those behind it are left."""
        if self._coming is not None:
            self._enough.set()
            coming, self._coming = self._coming, None
            coming.result()

    def _read_on(self, missing: Sequence[int], keep: set[int], guessed: bool) -> None:
        for expert in missing:
            if self._enough.is_set():
                return
            if len(self.resident) >= self.slots:
                others = self.resident - keep
                if not others:
                    return
                self._drop(min(others, key=self._value))
            try:
                self._read(expert)
            except CheckpointError:
                return  # who asks for it is told, when it is read for them
            if guessed:
                self._fresh.add(expert)
                self.counters.ahead += 1

    def _value(self, expert: int) -> tuple[float, int]:
        return self._worth[expert], expert

    def _read(self, expert: int) -> None:
        try:
            for part in self._arenas:
                for arena in part:
                    self.counters.read += arena.fill(expert)
                if len(part) == 2:
                    self._checkpoint.check_scales(
                        part[1].stack[expert], f"layer {self._layer}, expert {expert}"
                    )
        except CheckpointError:
            self._drop(expert)  # part of it may be there, which no count knows
            raise
        self.resident.add(expert)
        self.counters.resident = len(self.resident) * self._each

    def _drop(self, expert: int) -> None:
        self.resident.discard(expert)
        self._fresh.discard(expert)
        self.counters.resident = len(self.resident) * self._each
        for part in self._arenas:
            for arena in part:
                arena.drop(expert)
