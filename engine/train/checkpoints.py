"""What a run leaves behind every so many steps: a checkpoint that the engine loads, and beside it what training needs
to go on as if it had never stopped.

A folder `step-…` is there whole or not at all. In it: config.json, fp32 masters under their public names, the
optimiser's states in a safetensors file of their own folder, and state.json, which tells where the data are.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.train.parameters import Parameters, Stored, stack_name
from engine.train.trainer import Trainer
from engine.weights import names
from engine.weights.checkpoint import Checkpoint
from engine.weights.config_json import LARGEST
from engine.weights.files import read_json
from engine.weights.header import read_header
from engine.weights.save import save
from engine.weights.writer import Piece, stored, sync_folder, write_json, write_shard

_NAME = re.compile(r"step-(\d{8})")
_OPTIMISER = "optimiser"
_STATES = "states.safetensors"
_STATE = "state.json"
_LAST = 2
"""Checkpoints that stay whatever their step is."""


def write(trainer: Trainer, run: Path, source: Mapping[str, Any]) -> Path:
    """Writes a checkpoint of this moment; source: the rows' state."""
    folder = run / f"step-{trainer.step:08}"
    part = run / f".{folder.name}.part"
    for old in (part, folder):
        if old.exists():
            shutil.rmtree(old)
    save(trainer.config, Stored(trainer.parameters), part)
    (part / _OPTIMISER).mkdir()
    pieces = [
        Piece(name, tensor.dtype, tuple(tensor.shape), lambda tensor=tensor: [tensor.cpu()])
        for name, tensor in trainer.optimiser.states.items()
    ]
    write_shard(part / _OPTIMISER / _STATES, pieces)
    write_json(part / _STATE, {"step": trainer.step, "source": dict(source)})
    part.rename(folder)
    sync_folder(run)
    return folder


def prune(run: Path, keep: int) -> None:
    """Removes all but the last checkpoints and those of steps that are multiples of `keep`."""
    for folder in found(run)[:-_LAST]:
        if step_of(folder) % keep:
            shutil.rmtree(folder)


def found(run: Path) -> list[Path]:
    """The run's checkpoints, oldest first."""
    return sorted(path for path in run.glob("step-*") if _NAME.fullmatch(path.name))


def resume(trainer: Trainer, folder: Path) -> dict[str, Any]:
    """The trainer as it was when `folder` was written; gives the rows' state. Errors: CheckpointError."""
    load(trainer.parameters, Checkpoint.open(folder))
    path = folder / _OPTIMISER / _STATES
    entries = read_header(path)
    if set(entries) != set(trainer.optimiser.states):
        raise CheckpointError(f"{path}: is of another optimiser or model; start a run of its own from here")
    for name, state in trainer.optimiser.states.items():
        raw = torch.cat(list(stored(entries[name])))
        state.copy_(raw.view(entries[name].dtype).reshape(state.shape))
    told = read_json(folder, _STATE, LARGEST)
    trainer.step = int(told["step"])
    return told["source"]


@torch.no_grad()
def load(parameters: Parameters, checkpoint: Checkpoint) -> None:
    """Masters from a checkpoint of the same shape, whose experts are plain. Errors: CheckpointError."""
    if checkpoint.config != parameters.config:
        raise CheckpointError(f"{checkpoint.folder}: its config.json is not the model of this run")
    for name, _ in names.trunk(parameters.config):
        if name.endswith("e_score_correction_bias"):
            _copy(parameters.biases[int(name.split(".")[2])], checkpoint.tensor(name))
        else:
            _copy(parameters.named[name], checkpoint.tensor(name))
    for layer in names.moe_layers(parameters.config):
        if checkpoint.packed(layer):
            raise CheckpointError(
                f"{checkpoint.folder}: its experts are MXFP4; training goes on from plain ones"
            )
        for part in names.EXPERT_PARTS:
            _copy(parameters.named[stack_name(layer, part)], checkpoint.stacked(layer, part)[0])


def _copy(target: Tensor, source: Tensor) -> None:
    target.copy_(source.reshape(target.shape))


def step_of(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))
