"""The process that makes batches while the model trains: python -m engine.train.feed < settings > batches.

Settings are a line of JSON: data, half, seed, number. A batch is a line of JSON (kinds, starts, parents, following),
then its tokens as int32 and what is learnt as bytes. It goes on until nobody reads.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from typing import IO

import numpy as np

from engine.train.packer import Batch

_TOLD = 500
"""Batches after which it is told, on stderr, what was left out."""


def send(batch: Batch, out: IO[bytes]) -> None:
    head = {
        "kinds": batch.kinds,
        "starts": batch.starts.tolist(),
        "parents": batch.parents.tolist(),
        "following": batch.following,
    }
    out.write(json.dumps(head).encode() + b"\n" + batch.tokens.tobytes() + batch.learn.tobytes())
    out.flush()


def receive(source: IO[bytes]) -> Batch | None:
    """None at the end, also within a batch."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    head = json.loads(line)
    count = head["starts"][-1]
    raw = source.read(5 * count)
    if len(raw) < 5 * count:
        return None
    tokens = np.frombuffer(raw, np.int32, count)
    learn = np.frombuffer(raw, bool, count, 4 * count)
    starts, parents = np.array(head["starts"]), np.array(head["parents"])
    return Batch(tokens, learn, starts, tuple(head["kinds"]), parents, head["following"])


def main() -> int:
    from engine.train.data import Data

    asked = json.loads(sys.stdin.readline())
    packer = Data.of(asked["data"]).packer(asked["half"], str(asked["seed"]))
    number = asked["number"]
    try:
        for count in itertools.count(1):
            batch = packer.batch(number)
            send(batch, sys.stdout.buffer)
            number = batch.following
            if count % _TOLD == 0:
                print(packer.left_out(), file=sys.stderr, flush=True)
    except BrokenPipeError:
        # what is left in the buffer can't be written when Python ends either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
