"""Rows to train on, made in a process of their own; and held-out ones to measure on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import EngineError
from engine.train.data import Data
from engine.train.feed import receive
from engine.train.packer import Batch
from engine.train.rows import Rows

_QUESTIONS = 96
"""Choices that are measured: the right one comes first in about so many of hundred, give or take five."""
_AHEAD = 1 << 20
"""Bytes that may wait in the pipe, about 50 batches: what bounds how far the process is ahead."""
_ROOT = Path(__file__).parents[2]


class Feed:
    """A `Source` of rows. Its state is the number of the next example, since each is made of the seed and its number
    alone."""

    def __init__(self, data: Mapping[str, Any], half: str, seed: int) -> None:
        self._asked = {"data": dict(data), "half": half, "seed": seed}
        self._number = 0
        self._process: subprocess.Popen[bytes] | None = None

    def __iter__(self) -> Feed:
        return self

    def __next__(self) -> Rows:
        """Errors: EngineError where the process ended; what it said of it is on stderr."""
        self._process = self._process or self._started()
        assert self._process.stdout is not None
        batch = receive(self._process.stdout)
        if batch is None:
            status = self._process.wait()
            self._process = None
            raise EngineError(
                f"the process that makes examples ended with status {status}; go on with --resume"
            )
        self._number = batch.following
        return rows(batch)

    def state(self) -> dict[str, Any]:
        return {"number": self._number}

    def restore(self, state: dict[str, Any]) -> None:
        self.close()
        self._number = int(state["number"])

    def close(self) -> None:
        """Ends the process; the next row starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def __del__(self) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, "-m", "engine.train.feed"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
            start_new_session=True,  # Ctrl-C is for the trainer, which goes on to the end of its step
        )
        assert process.stdin is not None and process.stdout is not None
        _widened(process.stdout.fileno())
        process.stdin.write(json.dumps(self._asked | {"number": self._number}).encode() + b"\n")
        process.stdin.close()
        process.stdin = None
        return process


def source(data: Mapping[str, Any], half: str, seed: int) -> Feed:
    """data: the [data] table. half: `train` or `held`. Errors: ConfigError for a table that describes no data."""
    Data.of(data)
    return Feed(data, half, seed)


def held(data: Mapping[str, Any], count: int) -> Iterable[Rows]:
    """The same batches of held-out packages each time, every kind in batches of its own: `count` in all, one of each
    kind at least, and of choices as many as hold some of each."""
    return _held(json.dumps(data), count)


@lru_cache(maxsize=1)
def _held(table: str, count: int) -> tuple[Rows, ...]:
    data = Data.of(json.loads(table))
    kinds = [kind for kind, weight in data.weights.items() if weight > 0]
    made = []
    for at, kind in enumerate(kinds):
        packer = data.packer("held", f"held/{kind}", {kind: 1.0})
        number, batches, questions = 0, 0, 0
        while batches < max(1, (count + at) // len(kinds)) or 0 < questions < _QUESTIONS:
            batch = packer.batch(number)
            number = batch.following
            made.append(rows(batch))
            batches += 1
            questions += len(np.unique(batch.parents[batch.parents >= 0]))
    return tuple(made)


def rows(batch: Batch) -> Rows:
    return Rows(
        torch.tensor(batch.tokens, dtype=torch.int64),
        torch.tensor(batch.learn),
        torch.tensor(batch.starts),
        batch.kinds,
        torch.tensor(batch.parents) if (batch.parents >= 0).any() else None,
    )


def _widened(pipe: int) -> None:
    """Lets more wait in a pipe, where the system can."""
    import fcntl

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _AHEAD)
        except OSError:
            return  # a user's share of pipes is spent: the usual size does, with less ahead
