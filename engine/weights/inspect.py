"""What a checkpoint holds, and the memory that running it takes: computed, nothing is loaded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.cache.pools import PAGE, Pools
from engine.config import ModelConfig
from engine.weights import names
from engine.weights.checkpoint import Checkpoint
from engine.weights.kinds import KINDS, OTHER, kind_of
from engine.weights.passes import held


@dataclass(frozen=True, slots=True)
class Row:
    """Tensors of one kind. dtypes: those that they have, the commonest first."""

    kind: str
    tensors: int
    bytes: int
    dtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that stay resident. weights: all that the model reads. derived: copies that loading makes of them.
    caches: pools of pages and states. step: activations of the longest step, which the allocator keeps, what kernels
    keep, and results of recorded steps. process: Python, torch and the engine by themselves, as measured."""

    weights: int
    derived: int
    caches: int
    step: int
    process: int

    @property
    def total(self) -> int:
        return self.weights + self.derived + self.caches + self.step + self.process


def table(checkpoint: Checkpoint) -> list[Row]:
    """A row a kind, in the order of KINDS."""
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    dtypes: dict[str, Counter[str]] = {}
    for name, entry in checkpoint.entries.items():
        kind = kind_of(name)
        counts[kind] += 1
        sizes[kind] += entry.bytes
        dtype = "MXFP4" if name.endswith(("_packed", "_scale")) else str(entry.dtype).removeprefix("torch.")
        dtypes.setdefault(kind, Counter())[dtype] += entry.bytes
    return [
        Row(kind, counts[kind], sizes[kind], tuple(dtype for dtype, _ in dtypes[kind].most_common()))
        for kind in (*(kind for kind, _ in KINDS), OTHER)
        if counts[kind]
    ]


def predict(
    checkpoint: Checkpoint,
    context: int,
    sequences: int = 1,
    dtype: torch.dtype = torch.float32,
    page: int = PAGE,
    budget: int = 512,
    process: int | None = None,
) -> Memory:
    """What a process holds that runs `checkpoint` with `sequences` sequences of up to `context` tokens.

    dtype: of activations and caches. A page and a state slot are each counted for a sequence. budget: tokens a step.
    process: bytes that it holds by itself, as `bare.measured` finds; None: what this process holds now.
    """
    used = {name for name, _ in names.trunk(checkpoint.config)}
    weights = sum(
        entry.bytes
        for name, entry in checkpoint.entries.items()
        if name in used or kind_of(name) == "routed experts"
    )
    caches = pools_bytes(checkpoint.config, -(-context // page) * sequences, sequences, dtype, page)
    step = held(checkpoint, context, sequences, dtype, budget, page)
    return Memory(
        weights, _derived(checkpoint.config), caches, step, resident() if process is None else process
    )


def pools_bytes(config: ModelConfig, pages: int, slots: int, dtype: torch.dtype, page: int = PAGE) -> int:
    """Of the pools as they would be allocated: the same code, on a device that has no memory."""
    return Pools.allocate(config, pages, slots, dtype, "meta", page).bytes()


def resident() -> int:
    """Bytes of memory that this process holds now; 0 where the system doesn't tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    found = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(found.split()[1]) << 10


def _derived(config: ModelConfig) -> int:
    """What `build` makes anew: convolutions side by side, residual scores, router biases and decays, in fp32."""
    linear = config.layers - len(config.full)
    convolutions = linear * 3 * config.kda_width * config.conv
    scores = (2 * config.layers + 1) * config.hidden if config.attn_res_block else 0
    small = (
        linear * (config.kda_heads + config.kda_width)
        + (config.layers - config.dense_layers) * config.experts
    )
    return 4 * (convolutions + scores + small)
