"""A run's checkpoint as it is shipped: routed experts in MXFP4 exactly as training computed with them, the rest BF16.

python -m engine.train.export RUN DST [--step N] [--version N] [--measured FILE] [--tokenizer FILE] [--masters FOLDER]

Beside the weights lie the tokenizer, the card (see `engine.train.card`) and the files' hashes.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError, EngineError
from engine.sizes import human
from engine.train import card, checkpoints
from engine.train.corpus import lock
from engine.train.parameters import Parameters, Stored
from engine.weights.checkpoint import Checkpoint
from engine.weights.mxfp4 import pack
from engine.weights.quantize import SUMS
from engine.weights.save import save
from engine.weights.writer import write_json, write_whole

LARGEST = 16_000_000
"""Bytes of what is shipped, all files together."""
LARGEST_MASTERS = 24_000_000
"""Bytes of plain BF16 weights, which training goes on from."""
_CORPUS = Path(__file__).with_name("corpus.lock")


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
    where the same goes in BF16 throughout, for training to go on from (`python -m engine.train … --start`). Gives the
    checkpoint that was taken. Errors: CheckpointError for a run without it, a target that is not empty, or weights that
    are too large to be kept."""
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
    if masters is not None:
        _bounded(masters, LARGEST_MASTERS, "kept")
    return there[-1]


def describe(target: Path, run: Path, step: int, version: int, figures: card.Measured) -> None:
    """The card, what tells this version from others, and hashes of the weights, into a folder that `export` wrote.
    Errors: ConfigError, CheckpointError for a folder that is too large to be shipped."""
    opened = Checkpoint.open(target)
    parameters = sum(tensor.numel() for tensor in Parameters(opened.config).named.values())
    size = sum(file.stat().st_size for file in opened.files)
    shipped = card.Shipped(opened.config, version, step, parameters, size)
    write_whole(target / "README.md", [card.card(shipped, run, lock.read(_CORPUS), figures).encode()])
    write_json(target / card.MADE, card.made(version))
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in opened.files)
    write_whole(target / SUMS, [sums.encode()])
    _bounded(target, LARGEST, "shipped")


def _bounded(folder: Path, most: int, what: str) -> None:
    whole = sum(file.stat().st_size for file in folder.iterdir())
    if whole > most:
        raise CheckpointError(f"{folder}: {human(whole)}, and at most {human(most)} are {what}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.train.export")
    parser.add_argument("run", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--step", type=int, help="of the checkpoint; the last one's if not given")
    parser.add_argument(
        "--version", type=int, default=1, help="of what is shipped; a newer one has a larger number"
    )
    parser.add_argument("--measured", type=Path, help="a JSON file of figures for the card")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json to put beside the weights")
    parser.add_argument("--masters", type=Path, help="also write plain BF16 weights into this folder")
    asked = parser.parse_args()
    try:
        figures = card.measured(asked.measured)
        taken = export(asked.run, asked.target, asked.step, asked.tokenizer, asked.masters)
        describe(asked.target, asked.run, checkpoints.step_of(taken), asked.version, figures)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{asked.target}: {taken.name} of {asked.run}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
