"""What is shipped is what was trained; and a run by its command."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.api import Caches, Engine  # noqa: E402
from engine.errors import CheckpointError, ConfigError  # noqa: E402
from engine.process.load import load  # noqa: E402
from engine.prompt.repair import TAUGHT  # noqa: E402
from engine.train import checkpoints  # noqa: E402
from engine.train import export as exporting  # noqa: E402
from engine.train.card import MADE, Measured, measured  # noqa: E402
from engine.train.checkpoints import step_of  # noqa: E402
from engine.train.export import describe, export  # noqa: E402
from engine.train.log import lines  # noqa: E402
from engine.train.loss import CrossEntropy  # noqa: E402
from engine.train.notes import Notes  # noqa: E402
from engine.train.ops import hidden  # noqa: E402
from engine.train.packed import Packed  # noqa: E402
from engine.train.settings import Settings  # noqa: E402
from engine.train.trainer import Trainer  # noqa: E402
from engine.weights.card import licence_of  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.verify import verify  # noqa: E402

ROOT = str(Path(__file__).parents[3])
SOURCE = """
import torch
from engine.train.rows import Rows

class Letters:
    def __init__(self, step):
        self.at, self.step = 0, step
    def __iter__(self):
        return self
    def __next__(self):
        self.at += 1
        tokens = (torch.arange(48) * self.step + self.at) % 90
        return Rows(tokens, torch.ones(48, dtype=torch.bool), torch.tensor([0, 30, 48]), ("lm", "fim"))
    def state(self):
        return {"at": self.at}
    def restore(self, state):
        self.at = state["at"]

def source(data, half, seed):
    assert half == "train"
    return Letters(data["step"])

def held(data, count):
    return [next(Letters(2)) for _ in range(count)]
"""
CONFIG = """
[model]
hidden = 64
layers = 3
vocab = 97
full = [2]
kda_heads = 2
kda_dim = 16
heads = 2
q_lora = 32
kv_lora = 32
nope = 16
shared_key = 8
v_dim = 16
dense_inter = 64
experts = 4
expert_inter = 32
latent = 32
indexer = {heads = 2, dim = 16, top_k = 16}
[train]
steps = 4
save_every = 2
evaluate_every = 2
held = 1
[data]
rows = "letters"
step = 3
"""


def test_the_engine_answers_as_training_computed(small, tmp_path):
    trainer = Trainer(small, Settings(seed=3))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in trainer.parameters.named.values():  # BF16 exactly, so that only the experts are rounded
            tensor.add_(torch.randn(tensor.shape, generator=generator) * 0.1).copy_(tensor.bfloat16())
    trainer.step = 7
    checkpoints.write(trainer, tmp_path / "run", {})
    assert export(tmp_path / "run", tmp_path / "out", masters=tmp_path / "plain").name == "step-00000007"
    with pytest.raises(CheckpointError, match="not empty"):
        export(tmp_path / "run", tmp_path / "out")
    with pytest.raises(CheckpointError, match="step 8"):
        export(tmp_path / "run", tmp_path / "new", 8)

    tokens = torch.randint(97, (60,), generator=generator)
    model, vocabulary = load(tmp_path / "out", "reference")
    assert vocabulary is None
    engine = Engine(model, Caches(pages=16, slots=2, page=8, ram=0))
    (score,) = engine.score(tokens[:10].tolist(), [tokens[10:].tolist()])
    weights = trainer.parameters.weights(torch.float32, True)
    with torch.no_grad():
        packed = Packed.at(torch.tensor([0, 60]))
        x = hidden(small, weights, tokens, packed, torch.arange(9, 59), Notes(sparse=True))
        expected = -CrossEntropy.apply(x, weights.head, tokens[10:])
    torch.testing.assert_close(torch.tensor(score.tokens), expected, atol=1e-3, rtol=0)

    again = Trainer(small, Settings())
    checkpoints.load(again.parameters, checkpoints.Checkpoint.open(tmp_path / "plain"))
    for name, tensor in trainer.parameters.named.items():
        assert torch.equal(again.parameters.named[name].bfloat16(), tensor.bfloat16()), name


@pytest.fixture
def call(tmp_path):
    """Trains by the command, in a folder with a source of rows and `run.toml`."""
    (tmp_path / "letters.py").write_text(SOURCE)
    (tmp_path / "run.toml").write_text(CONFIG)
    paths = os.pathsep.join([ROOT, str(tmp_path)])

    def call(*arguments: str):
        return subprocess.run(
            [sys.executable, "-m", "engine.train", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_a_run_starts_from_another_ones_weights(call, tmp_path):
    begun = call("run.toml", "run", "--threads", "1")
    assert begun.returncode == 0, begun.stderr
    export(tmp_path / "run", tmp_path / "out", masters=tmp_path / "masters")
    before = lines(tmp_path / "run")[-1]
    assert "held" in before and before["step"] == 4

    started = call("run.toml", "exact", "--start", "run/step-00000004", "--threads", "1")
    assert started.returncode == 0, started.stderr
    first, *later = lines(tmp_path / "exact")
    assert first["step"] == 0 and first["held"]["kinds"] == before["held"]["kinds"]
    assert [line["step"] for line in later if "loss" in line] == [1, 2, 3, 4], "counted anew"
    assert next(line["lr"] for line in later) == lines(tmp_path / "run")[0]["lr"], "a new warm-up"

    rounded = call("run.toml", "rounded", "--start", "masters", "--threads", "1")
    assert rounded.returncode == 0, rounded.stderr
    for kind, loss in lines(tmp_path / "rounded")[0]["held"]["kinds"].items():
        assert loss == pytest.approx(before["held"]["kinds"][kind], abs=0.02)
    refused = call("run.toml", "shipped", "--start", "out")
    assert refused.returncode == 2 and "goes on from plain ones" in refused.stderr
    assert call("run.toml", "both", "--resume", "--start", "masters").returncode == 2


def test_a_run_by_its_command(call, tmp_path):
    (tmp_path / "run").mkdir()
    claimed = os.open(tmp_path / "run", os.O_RDONLY)
    fcntl.flock(claimed, fcntl.LOCK_EX)
    refused = call("run.toml", "run")
    assert refused.returncode == 2
    assert "another process" in refused.stderr
    os.close(claimed)
    done = call("run.toml", "run", "--threads", "1")
    assert done.returncode == 0, done.stderr
    more = call("run.toml", "run", "--resume", "--steps", "6", "--threads", "1")
    assert more.returncode == 0, more.stderr
    assert [line["step"] for line in lines(tmp_path / "run") if "loss" in line] == [1, 2, 3, 4, 5, 6]
    assert {*lines(tmp_path / "run")[0]["kinds"]} == {"lm", "fim"}
    (tmp_path / "figures.json").write_text(
        '{"measured": [{"what": "ranking", "value": "0.50", "beside": "0.27", "command": "bench/model"}]}'
    )
    for version, wanted in (("3", 0), ("x", 2)):
        exported = subprocess.run(
            [
                sys.executable, "-m", "engine.train.export", "run", f"out-{version}", "--version", version,
                "--measured", "figures.json",
            ],
            cwd=tmp_path, env=os.environ | {"PYTHONPATH": ROOT}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert exported.returncode == wanted, exported.stderr
    assert licence_of(tmp_path / "out-3") is None, "nobody has to agree to it"
    assert json.loads((tmp_path / "out-3" / MADE).read_text()) == {"version": 3, "questions": TAUGHT}
    told = (tmp_path / "out-3" / "README.md").read_text()
    for part in (
        "6 steps, 0.0M tokens",
        "| ranking | 0.50 | 0.27 |",
        "bench/model",
        "| lm |",
        'rows = "letters"',
    ):
        assert part in told
    assert "| numpy |" in told, "every package is named"
    verdicts = verify(Checkpoint.open(tmp_path / "out-3"))
    assert all(one.expected and not one.problems for one in verdicts)


def test_what_is_too_large_to_be_shipped_is_said(small, tmp_path, monkeypatch):
    trainer = Trainer(small, Settings(seed=3))
    checkpoints.write(trainer, tmp_path / "run", {})
    (tmp_path / "run" / "config.toml").write_text("")
    taken = export(tmp_path / "run", tmp_path / "out")
    describe(tmp_path / "out", tmp_path / "run", step_of(taken), 1, Measured())
    assert "Nothing was measured yet." in (tmp_path / "out" / "README.md").read_text()
    monkeypatch.setattr(exporting, "LARGEST", 1000)
    with pytest.raises(CheckpointError, match=r"at most 1\.0 kB are shipped"):
        describe(tmp_path / "out", tmp_path / "run", step_of(taken), 1, Measured())
    monkeypatch.setattr(exporting, "LARGEST_MASTERS", 1000)
    with pytest.raises(CheckpointError, match=r"at most 1\.0 kB are kept"):
        export(tmp_path / "run", tmp_path / "again", masters=tmp_path / "masters")
    with pytest.raises(ConfigError, match="no figures"):
        measured(tmp_path / "out" / "config.json")
