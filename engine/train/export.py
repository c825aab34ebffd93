"""A run's checkpoint as it is shipped: routed experts in MXFP4 exactly as training computed with them, the rest BF16.

python -m engine.train.export RUN DST [--step N] [--tokenizer FILE] [--masters FOLDER]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError, EngineError
from engine.train import checkpoints
from engine.train.parameters import Parameters, Stored
from engine.weights.checkpoint import Checkpoint
from engine.weights.mxfp4 import pack
from engine.weights.save import save
from engine.weights.writer import write_whole


class Shipped(Stored):
    """A `Source` of BF16 tensors with packed experts."""

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters, torch.bfloat16)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        return pack(super().stacked(layer, part)[0])


def export(
    run: Path,
    target: Path,
    step: int | None = None,
    tokenizer: Path | None = None,
    masters: Path | None = None,
) -> Path:
    """Writes the run's last checkpoint, or that of `step`, into the folder `target`, which `engine.api` loads; masters:
    where the same goes in BF16 throughout, for training to go on from. Gives the checkpoint that was taken.
    Errors: CheckpointError for a run without it or a target that is not empty."""
    there = [folder for folder in checkpoints.found(run) if step is None or folder.name == f"step-{step:08}"]
    if not there:
        raise CheckpointError(f"{run}: no checkpoint{'' if step is None else f' of step {step}'} in it")
    opened = Checkpoint.open(there[-1])
    parameters = Parameters(opened.config)
    checkpoints.load(parameters, opened)
    for folder, source in ((target, Shipped(parameters)), (masters, Stored(parameters, torch.bfloat16))):
        if folder is None:
            continue
        if folder.exists() and any(folder.iterdir()):
            raise CheckpointError(f"{folder}: is not empty; name a new folder")
        save(opened.config, source, folder)
        if tokenizer is not None:
            write_whole(folder / "tokenizer.json", [tokenizer.read_bytes()])
    return there[-1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.train.export")
    parser.add_argument("run", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--step", type=int, help="of the checkpoint; the last one's if not given")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json to put beside the weights")
    parser.add_argument("--masters", type=Path, help="also write plain BF16 weights into this folder")
    asked = parser.parse_args()
    try:
        taken = export(asked.run, asked.target, asked.step, asked.tokenizer, asked.masters)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{asked.target}: {taken.name} of {asked.run}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
