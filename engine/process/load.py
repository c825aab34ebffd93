"""A model ready to run from a checkpoint's folder, where the plan puts it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from engine import tokenizer
from engine.generate.text import Vocabulary
from engine.model import Model
from engine.offload.ahead import link
from engine.offload.devices import RAM, Device, devices
from engine.offload.experts import OffloadedExperts
from engine.offload.needs import needs
from engine.offload.plan import Place, Plan, plan
from engine.weights.build import build
from engine.weights.card import check_agreed
from engine.weights.checkpoint import Checkpoint
from kernels.dispatch import available, select

_TOKENIZERS = ("tokenizer.json", "*.tiktoken", "tiktoken.model")


def load(
    folder: Path,
    kernels: str | None = None,
    *,
    device: str | None = None,
    there: Sequence[Device] | None = None,
    pages: int = 1,
    slots: int = 1,
    ram: int = 0,
    agreed: str | None = None,
) -> tuple[Model, Vocabulary | None]:
    """The model, and its tokenizer if the folder has one. device: which one computes; None: the plan's choice. there:
    devices to plan with; None: this machine's. pages, slots, ram: of the caches that it will have. agreed: see
    `engine.weights.card.check_agreed`.
    Errors: LicenceError, CapacityError before anything is allocated; CheckpointError, ConfigError, RequestError."""
    check_agreed(folder, agreed)
    checkpoint = Checkpoint.open(folder)
    made = plan(needs(checkpoint, pages, slots, ram), devices() if there is None else there, device)
    for line in made.words():
        logging.getLogger("engine").info("%s", line)
    model = placed(checkpoint, made, kernels)
    has = any(next(folder.glob(name), None) for name in _TOKENIZERS)
    return model, tokenizer.load(folder) if has else None


def placed(checkpoint: Checkpoint, made: Plan, kernels: str | None) -> Model:
    """A model whose weights lie where the plan says; a thread that reads experts ahead ends with it. Errors:
    CheckpointError."""
    ops = select(made.device, kernels)
    if not made.offloaded:
        return Model(checkpoint.config, build(checkpoint.config, _On(checkpoint, made.device)), ops)
    host = ops if made.device == RAM else select(RAM, available(RAM)[0])

    resident = Place(made.device, made.of)
    pool = ThreadPoolExecutor(1, thread_name_prefix="read-ahead")

    def elsewhere(layer: int) -> OffloadedExperts | None:
        place = made.experts.get(layer)
        if place is None or place == resident:
            return None
        return OffloadedExperts(checkpoint, layer, place.slots, host, pool)

    weights = build(checkpoint.config, _On(checkpoint, made.device), elsewhere)
    link(weights, checkpoint.config, ops)
    # A GPU's graph can't come back to Python, where it is seen which experts are asked for.
    return Model(checkpoint.config, weights, ops if made.device == RAM else replace(ops, capture=None))


class _On:
    """A checkpoint's tensors on a device; on the CPU they stay where they are mapped."""

    def __init__(self, checkpoint: Checkpoint, device: str) -> None:
        self._checkpoint, self._device = checkpoint, device

    def tensor(self, name: str) -> Tensor:
        return self._checkpoint.tensor(name).to(self._device)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        return tuple(tensor.to(self._device) for tensor in self._checkpoint.stacked(layer, part))
