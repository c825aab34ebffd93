"""What an engine's process holds by itself: Python, PyTorch, the engine, and their code as far as it is used.

Measured in a process of its own that computes a few tokens with a tiny model of every kind of layer, so that the
code is there which any model needs. `python -m engine.weights.bare` prints it.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import torch

from engine.errors import EngineError


def measured() -> int:
    """Bytes; 0 where the system doesn't tell. Takes as long as importing PyTorch. Errors: EngineError where no such
    process runs."""
    # Elsewhere than here: a project may have a folder of the engine's name.
    run = [sys.executable, "-m", "engine.weights.bare"]
    done = subprocess.run(run, capture_output=True, text=True, cwd="/")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["without a word"])[-1]
        raise EngineError(f"an engine's process ended with {done.returncode} when it was measured: {last}")
    return int(done.stdout)


def main() -> None:
    from engine.api import Caches, Engine, Request
    from engine.config import MINI, Indexer
    from engine.generate.sample import GREEDY
    from engine.model import Model
    from engine.process import load, server  # noqa: F401  the process has them
    from engine.process.heap import one_heap
    from engine.weights.build import build
    from engine.weights.inspect import resident
    from engine.weights.random import RandomSource
    from kernels.dispatch import select

    one_heap()
    config = replace(
        MINI, hidden=64, layers=4, full=(3,), vocab=256, kda_heads=1, heads=1, q_lora=32, kv_lora=32, dense_inter=64,
        experts=4, top_k=2, expert_inter=32, latent=32, vision=None, context=128, indexer=Indexer(1, 32, 16), bos=0,
        eos=(1,),
    )  # fmt: skip
    model = Model(config, build(config, RandomSource(config, dtype=torch.bfloat16)), select())
    engine = Engine(model, Caches(pages=2, slots=1, ram=0))
    engine.generate(Request(list(range(2, 40)), GREEDY, 4, frozenset())).read()
    print(resident())


if __name__ == "__main__":
    main()
