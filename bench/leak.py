"""Memory of the engine's process over many short requests: answers read, answers hung up on, scores, embeddings.

    python bench/leak.py [--requests 10000] [--offload]

A tiny checkpoint of random weights with every kind of layer is served over the socket, with a prefix cache that is full
long before the first mark. Prints what the process holds at each tenth, then a JSON object: bytes at the first tenth
and at the end, and their ratio. offload: room for a third of the experts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.config import MINI
from engine.process import wire
from engine.process.client import Client, status
from engine.weights.random import RandomSource
from engine.weights.save import save

CONFIG = replace(
    MINI, hidden=64, layers=4, full=(3,), vocab=97, experts=24, latent=32, expert_inter=64, eos=()
)
PAGES, SLOTS, RAM = 64, 4, 4 << 20


def generate(client: Client, drawn: random.Random) -> None:
    sampling = {
        "temperature": drawn.choice([0, 0.8]),
        "seed": drawn.randrange(1000),
        "logprobs": drawn.choice([0, 2]),
    }
    *_, end = client.generate(wire.Generate(_prompt(drawn), sampling, drawn.randint(1, 8)))
    assert isinstance(end, wire.End)


def hang_up(client: Client, drawn: random.Random) -> None:
    answer = client.generate(wire.Generate(_prompt(drawn), {}, 400))
    for _ in range(drawn.randint(1, 3)):
        next(answer)
    answer.close()


def score(client: Client, drawn: random.Random) -> None:
    after = [[drawn.randrange(97) for _ in range(drawn.randint(1, 5))] for _ in range(4)]
    assert len(client.score(wire.Score(_prompt(drawn), after))) == 4


def embed(client: Client, drawn: random.Random) -> None:
    assert client.embed(wire.Embed([_prompt(drawn), _prompt(drawn)])).rows == 2


KINDS: dict[Callable[[Client, random.Random], None], int] = {generate: 5, hang_up: 2, score: 2, embed: 1}
"""How often each comes."""


def _prompt(drawn: random.Random) -> list[int]:
    """One of a few beginnings, so that some are in the cache."""
    begun = [(drawn.randrange(20) + n) % 97 for n in range(12)]
    return begun + [drawn.randrange(97) for _ in range(drawn.randint(1, 30))]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--offload", action="store_true")
    options = parser.parse_args()
    drawn = random.Random(0)
    kinds = list(KINDS)
    done: Counter[str] = Counter()
    held: list[int] = []
    with tempfile.TemporaryDirectory(prefix="leak") as made:
        checkpoint, folder = Path(made) / "checkpoint", Path(made) / "run"
        save(CONFIG, RandomSource(CONFIG, mxfp4=True), checkpoint)
        command = [
            sys.executable, "-m", "engine.process", str(folder), str(checkpoint), "--pages", str(PAGES), "--slots",
            str(SLOTS), "--ram", str(RAM), "--idle", "60", *(_little(checkpoint) if options.offload else ()),
        ]  # fmt: skip
        client = Client(folder, command)
        for number in range(1, options.requests + 1):
            (ask,) = drawn.choices(kinds, list(KINDS.values()))
            ask(client, drawn)
            done[ask.__name__] += 1
            if number % max(options.requests // 10, 1) == 0:
                state = status(folder)
                assert state is not None
                held.append(state.memory)
                print(
                    f"{number:6} requests: {state.memory / 1e6:.1f} MB, {state.experts or 'experts resident'}",
                    flush=True,
                )
        assert client.pid is not None
        os.kill(client.pid, signal.SIGTERM)
    told = {"requests": dict(done), "first": held[0], "last": held[-1], "ratio": round(held[-1] / held[0], 4)}
    print(json.dumps(told))
    return 0


def _little(checkpoint: Path) -> list[str]:
    """Options that leave room for a third of the experts."""
    from engine.offload.needs import needs
    from engine.weights.checkpoint import Checkpoint

    takes = needs(Checkpoint.open(checkpoint), PAGES, SLOTS, RAM)
    room = takes.fixed + CONFIG.experts // 3 * sum(takes.layers.values())
    return ["--device", "cpu", "--memory", str(takes.process + room)]


if __name__ == "__main__":
    sys.exit(main())
