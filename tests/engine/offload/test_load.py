"""A checkpoint loaded with little memory answers as one that is wholly resident."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.api import Caches, Engine, Request  # noqa: E402
from engine.config import MINI  # noqa: E402
from engine.errors import CapacityError  # noqa: E402
from engine.generate.sample import Sampling  # noqa: E402
from engine.offload.devices import Device  # noqa: E402
from engine.offload.experts import OffloadedExperts  # noqa: E402
from engine.offload.needs import counted, needs  # noqa: E402
from engine.offload.plan import Place, Plan  # noqa: E402
from engine.process.load import load, placed  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402
from kernels.dispatch import available  # noqa: E402

CONFIG = replace(
    MINI, hidden=64, layers=4, full=(3,), vocab=97, experts=8, latent=32, expert_inter=64, eos=()
)
PROMPT = [(3 * n * n + n) % 96 for n in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("checkpoint")
    save(CONFIG, RandomSource(CONFIG, mxfp4=True), made)
    return made


@pytest.mark.parametrize("kernels", [available()[0], "reference"])
def test_answers_are_the_same_token_for_token(folder, kernels: str) -> None:
    checkpoint = Checkpoint.open(folder)
    answers, scores = [], []
    for slots in ((8, 8, 8), (8, 5, 3), (2, 2, 2)):
        made = Plan("cpu", {layer: Place("cpu", slots[layer - 1]) for layer in (1, 2, 3)}, {}, 8)
        model = placed(checkpoint, made, kernels)
        engine = Engine(model, Caches(16, 2, ram=0), budget=16)
        answers.append(engine.generate(Request(PROMPT, Sampling(temperature=0), 12)).read()[0])
        scores.append([one.tokens for one in engine.score(PROMPT, [[1, 2, 3], [4]])])
        done = counted(model)
        assert (done is None) == (slots == (8, 8, 8))
        assert done is None or (done.hits > 0 and done.misses > 0 and done.read > 0 and done.resident > 0)
    assert answers[0] == answers[1] == answers[2]
    assert scores[0] == scores[1] == scores[2]


def test_the_plan_decides_when_loading(folder) -> None:
    """What this process holds moves by megabytes between two looks at it, so sizes are far from the border."""
    whole, _ = load(folder, "reference", there=[Device("cpu", 1 << 50)], pages=16)
    assert all(
        not isinstance(getattr(layer.ffn, "experts", None), OffloadedExperts)
        for layer in whole.weights.layers[1:]
    )
    takes = needs(Checkpoint.open(folder), 16)
    gpu = Device("cuda:0", takes.fixed - 1)
    small, _ = load(folder, "reference", there=[gpu, Device("cpu", 1 << 50)], pages=16)
    assert small.weights.norm.device.type == "cpu"


def test_too_little_is_told_before_loading(folder) -> None:
    with pytest.raises(CapacityError, match="lacking"):
        load(folder, "reference", there=[Device("cpu", 1 << 20)])


def test_what_is_resident_stays_within_the_plan(tmp_path: Path) -> None:
    """Sixty megabytes of experts through room for a sixteenth: a process of its own tells its growth."""
    config = replace(CONFIG, layers=2, full=(1,), experts=64, latent=512, expert_inter=1024, top_k=4)
    drawn = torch.randint(0, 256, (64, 1024, 256), dtype=torch.uint8)
    small = torch.full((64, 1024, 16), 120, dtype=torch.uint8)

    class Cheap(RandomSource):
        def stacked(self, layer: int, part: str):
            shapes = ((64, 512, 512), (64, 512, 32)) if part == "w2" else (drawn.shape, small.shape)
            return drawn.reshape(shapes[0]), small.reshape(shapes[1])

    save(config, Cheap(config), tmp_path)
    code = """
import sys, torch
from pathlib import Path
torch.set_num_threads(1)
from engine.offload.experts import OffloadedExperts
from engine.weights.checkpoint import Checkpoint
from engine.weights.inspect import resident
from kernels.dispatch import available, select
checkpoint = Checkpoint.open(Path(sys.argv[1]))
experts = OffloadedExperts(checkpoint, 1, 4, select("cpu", available()[0]))
x, weights = torch.ones(1, 512), torch.ones(1, 4)
experts(x, torch.tensor([[0, 1, 2, 3]]), weights, checkpoint.config.glu)
before = resident()
for first in range(4, 64, 4):
    experts(x, torch.arange(first, first + 4)[None], weights, checkpoint.config.glu)
print(resident() - before, experts.kept.counters.read)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    grown, read = map(int, done.stdout.split())
    assert read == 64 * 3 * 512 * 1024 * 17 // 32
    assert grown < read // 4
