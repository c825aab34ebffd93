"""Runs: losses that fall, kills that change nothing, checkpoints that the engine loads."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.train import checkpoints, loop  # noqa: E402
from engine.train.log import lines  # noqa: E402
from engine.train.rows import Rows  # noqa: E402
from engine.train.settings import Settings  # noqa: E402
from engine.train.trainer import Trainer  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402

ROOT = str(Path(__file__).parents[3])
QUICK = Settings(
    steps=6, lr=3e-3, warmup=2, decay=2, dtype="float32", quantise_from=2, sparse_from=3, index_rows=16, save_every=2,
    evaluate_every=3, keep=4, held=1,
)  # fmt: skip


class Counting:
    """Endless rows out of a number, as a source of real ones is asked for them."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self):
        return self

    def __next__(self) -> Rows:
        self.at += 1
        generator = torch.Generator().manual_seed(self.at)
        lengths = [40, 20, 4]
        tokens = torch.randint(8, (64,), generator=generator).cumsum(0) % 97
        return Rows(
            tokens,
            torch.rand(64, generator=generator) < 0.8,
            torch.tensor([0, *lengths]).cumsum(0),
            ("a", "b", "a"),
        )

    def state(self):
        return {"at": self.at}

    def restore(self, state):
        self.at = state["at"]


def held():
    return [next(Counting())]


def curve(run):
    return [(line["step"], line["loss"], line["norm"]) for line in lines(run) if "loss" in line]


def test_loss_falls_on_a_repeated_text(small):
    trainer = Trainer(small, replace(QUICK, steps=40, lr=1e-2))
    rows = next(Counting())
    losses = [trainer.train([rows]).loss for _ in range(40)]
    assert losses[0] > 4
    assert losses[-1] < losses[0] / 2


def test_batches_of_a_step_weigh_by_what_is_learnt(small):
    source = Counting()
    first, second = next(source), next(source)
    lone = Rows(second.tokens[:4], second.learn[:4] | True, torch.tensor([0, 4]), ("a",))
    moved = []
    for batches in ([first, lone], [_joined(first, lone)]):
        trainer = Trainer(small, replace(QUICK, index_rows=0, optimiser="adamw"))
        trainer.optimiser.step = lambda number, trainer=trainer: 0.0
        told = trainer.train(batches)
        moved.append((told.loss, trainer.parameters.named["lm_head.weight"].grad))
    assert moved[0][0] == pytest.approx(moved[1][0], rel=1e-5)
    torch.testing.assert_close(moved[0][1], moved[1][1], atol=1e-6, rtol=1e-4)


def _joined(one, other):
    starts = torch.cat([one.starts, one.starts[-1] + other.starts[1:]])
    return Rows(
        torch.cat([one.tokens, other.tokens]),
        torch.cat([one.learn, other.learn]),
        starts,
        one.kinds + other.kinds,
    )


def test_a_run_writes_checkpoints_that_the_engine_reads(small, tmp_path):
    trainer = Trainer(small, QUICK)
    loop.run(trainer, Counting(), held, tmp_path, say=lambda _: None)
    names = [path.name for path in checkpoints.found(tmp_path)]
    assert names == ["step-00000004", "step-00000006"]
    opened = Checkpoint.open(tmp_path / names[-1])
    torch.testing.assert_close(
        opened.tensor("lm_head.weight"), trainer.parameters.named["lm_head.weight"].detach()
    )
    assert [line["step"] for line in lines(tmp_path) if "held" in line] == [3, 6]


def test_old_checkpoints_go_but_those_that_are_kept(small, tmp_path):
    trainer = Trainer(small, QUICK)
    for step in range(1, 8):
        trainer.step = step
        checkpoints.write(trainer, tmp_path, {})
        checkpoints.prune(tmp_path, 4)
    assert [path.name for path in checkpoints.found(tmp_path)] == [f"step-{step:08}" for step in (4, 6, 7)]


def test_a_killed_run_goes_on_as_if_it_had_not_been(small, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    trainer = Trainer(small, QUICK)
    loop.run(trainer, Counting(), held, whole, say=lambda _: None)

    script = "\n".join(
        [
            "import os, signal, sys, torch",
            "torch.set_num_threads(1)",
            "from pathlib import Path",
            "from engine.config import Indexer, ModelConfig",
            "from engine.train import loop",
            "from engine.train.rows import Rows",
            "from engine.train.settings import Settings",
            "from engine.train.trainer import Trainer",
            inspect.getsource(Counting),
            "def held(): return [next(Counting())]",
            "def die(told):",
            "    if told.startswith('step 5 '): os.kill(os.getpid(), signal.SIGKILL)",
            f"trainer = Trainer({small!r}, {QUICK!r})",
            "loop.run(trainer, Counting(), held, Path(sys.argv[1]), say=die)",
        ]
    )
    child = subprocess.run([sys.executable, "-c", script, str(killed)], env=os.environ | {"PYTHONPATH": ROOT})
    assert child.returncode == -signal.SIGKILL
    assert curve(killed)[-1][0] == 5

    again, source = Trainer(small, QUICK), Counting()
    source.restore(checkpoints.resume(again, checkpoints.found(killed)[-1]))
    assert again.step == 4
    loop.run(again, source, held, killed, say=lambda _: None)
    assert curve(killed) == curve(whole)
    for name, tensor in trainer.parameters.named.items():
        assert torch.equal(tensor, again.parameters.named[name]), name
    for layer, bias in trainer.parameters.biases.items():
        assert torch.equal(bias, again.parameters.biases[layer])
