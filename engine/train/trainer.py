"""One step: rows in, parameters moved, and what is told of it; and the same losses on held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.model import ModelWeights
from engine.train.balance import imbalance, level
from engine.train.choice import Chosen
from engine.train.notes import Notes
from engine.train.objective import Lost, Objective
from engine.train.ops import hidden
from engine.train.optimiser import Optimiser
from engine.train.packed import Packed
from engine.train.parameters import Parameters
from engine.train.recall import Recall
from engine.train.rows import Rows
from engine.train.settings import Settings

_DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


@dataclass(slots=True)
class Told:
    """Of one step or evaluation. sums: (loss, learnt tokens) by kind. tokens: read. chosen: of choices.
    divergence: KL of the indexers, a layer's mean. loads: [E] a layer."""

    sums: dict[str, tuple[float, int]] = field(default_factory=dict)
    tokens: int = 0
    chosen: Chosen = field(default_factory=Chosen)
    divergence: float = 0.0
    loads: list[Tensor] = field(default_factory=list)
    norm: float = 0.0

    def add(self, lost: Lost, notes: Notes, tokens: int, share: float) -> None:
        for kind, (loss, count) in lost.by_kind.items():
            before = self.sums.get(kind, (0.0, 0))
            self.sums[kind] = before[0] + loss, before[1] + count
        self.chosen += lost.chosen
        self.tokens += tokens
        if notes.divergences:
            self.divergence += share * float(torch.stack(notes.divergences).detach().mean())
        before = self.loads or [torch.zeros_like(load) for load in notes.loads]
        self.loads = [one + other for one, other in zip(before, notes.loads, strict=True)]

    @property
    def loss(self) -> float:
        return sum(loss for loss, _ in self.sums.values()) / max(1, self.learnt)

    @property
    def learnt(self) -> int:
        return sum(count for _, count in self.sums.values())

    def words(self) -> dict[str, object]:
        """For the log."""
        kinds = {kind: round(loss / count, 4) for kind, (loss, count) in sorted(self.sums.items()) if count}
        return {
            "loss": round(self.loss, 4),
            "kinds": kinds,
            **({"choice": self.chosen.words()} if self.chosen.questions else {}),
            "tokens": self.tokens,
            "learnt": self.learnt,
            "divergence": round(self.divergence, 4),
            "fullest": round(imbalance(self.loads), 3) if self.loads else 1.0,
        }


class Trainer:
    """step: optimiser steps that were done."""

    def __init__(self, config: ModelConfig, settings: Settings, device: torch.device | str = "cpu") -> None:
        self.config, self.settings, self.device = config, settings, device
        self.parameters = Parameters(config, settings.seed, device)
        self.optimiser = Optimiser(self.parameters.named, settings)
        self.step = 0

    def train(self, batches: Sequence[Rows]) -> Told:
        """One step on all of `batches` together: each learnt token weighs the same."""
        told = Told()
        objectives = [Objective.of(rows) for rows in batches]
        learnt = max(1, sum(one.learnt for one in objectives))
        for number, (rows, one) in enumerate(zip(batches, objectives, strict=True)):
            notes = self._notes(self.settings.index_rows, self.step * len(batches) + number)
            lost = self._lost(rows, one, notes, self._weights())
            loss = lost.whole / learnt
            if notes.divergences:
                loss = loss + torch.stack(notes.divergences).sum() / len(batches)
            loss.backward()
            told.add(lost, notes, len(rows.tokens), 1 / len(batches))
        told.norm = self.optimiser.step(self.step)
        level(self.parameters.biases, told.loads, self.settings.balance)
        self.step += 1
        return told

    @torch.no_grad()
    def evaluate(self, batches: Iterable[Rows]) -> tuple[Told, Recall]:
        """Losses by kind on rows that nothing is learnt from, and what indexers keep of attention there."""
        told, recall = Told(), Recall.none()
        weights = self._weights()
        seen = 0
        for number, rows in enumerate(batches):
            notes = self._notes(max(1, self.settings.index_rows), number)
            notes.recall = recall
            told.add(self._lost(rows, Objective.of(rows), notes, weights), notes, len(rows.tokens), 1.0)
            seen += 1
        told.divergence /= max(1, seen)
        return told, recall

    def _weights(self) -> ModelWeights:
        quantised = self.step >= self.settings.quantise_from
        return self.parameters.weights(_DTYPES[self.settings.dtype], quantised)

    def _notes(self, rows: int, seed: int) -> Notes:
        return Notes(self.step >= self.settings.sparse_from, rows, seed)

    def _lost(self, rows: Rows, objective: Objective, notes: Notes, weights: ModelWeights) -> Lost:
        packed = Packed.at(rows.starts, self.device, rows.parents)
        tokens, own = rows.tokens.to(self.device), objective.rows.to(self.device)
        x = hidden(self.config, weights, tokens, packed, own, notes)
        return objective.lost(x, weights.head, self.settings)
