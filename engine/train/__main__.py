"""python -m engine.train CONFIG.toml RUN [--resume | --start CHECKPOINT] [--steps N] [--seconds S] [--device cpu|cuda]
[--threads N]"""

from __future__ import annotations

import argparse
import fcntl
import os
import sys
from dataclasses import replace
from pathlib import Path

import torch

from engine.errors import CheckpointError, EngineError
from engine.train import checkpoints, fused, loop, settings
from engine.train.trainer import Trainer
from engine.weights.checkpoint import Checkpoint


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m engine.train", description="Trains a model, from scratch or from a checkpoint."
    )
    parser.add_argument("config", type=Path, help="a TOML file with [model], [train] and [data]")
    parser.add_argument("run", type=Path, help="folder of the run: checkpoints and log.jsonl")
    begins = parser.add_mutually_exclusive_group()
    begins.add_argument("--resume", action="store_true", help="go on from the run's last checkpoint")
    begins.add_argument(
        "--start",
        type=Path,
        metavar="CHECKPOINT",
        help="begin with the weights of a plain checkpoint, at step 0",
    )
    parser.add_argument("--steps", type=int, help="steps in all, instead of the file's")
    parser.add_argument("--seconds", type=float, help="stop after so much time, leaving a checkpoint")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--threads", type=int, help="of a CPU")
    asked = parser.parse_args()
    try:
        train(asked)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def train(asked: argparse.Namespace) -> None:
    torch.set_flush_denormal(True)
    if asked.threads:
        torch.set_num_threads(asked.threads)
    config = settings.read(asked.config)
    wanted = config.train if asked.steps is None else replace(config.train, steps=asked.steps)
    if wanted.compile:
        fused.turn_on()
    trainer = Trainer(config.model, wanted, asked.device)
    opened = config.rows()
    source = opened.source(config.data, "train", wanted.seed)
    asked.run.mkdir(parents=True, exist_ok=True)
    claimed = os.open(asked.run, os.O_RDONLY)  # until this process ends
    try:
        fcntl.flock(claimed, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CheckpointError(f"{asked.run}: another process trains there; name another folder") from error
    there = checkpoints.found(asked.run)
    if there and not asked.resume:
        raise CheckpointError(
            f"{asked.run}: holds a run already; say --resume to go on, or name another folder"
        )
    (asked.run / "config.toml").write_bytes(asked.config.read_bytes())
    if there:
        source.restore(checkpoints.resume(trainer, there[-1]))
    elif asked.start is not None:
        checkpoints.load(trainer.parameters, Checkpoint.open(asked.start))
    print(f"{trainer.parameters.count():,} parameters, step {trainer.step} of {wanted.steps}", flush=True)
    loop.run(
        trainer,
        source,
        lambda: opened.held(config.data, wanted.held),
        asked.run,
        seconds=asked.seconds,
        measure_first=asked.start is not None,
        say=lambda told: print(told, flush=True),
    )


if __name__ == "__main__":
    raise SystemExit(main())
