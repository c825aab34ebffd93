"""A layer tells the next one what it will likely ask for; the answers stay the same bit for bit."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.api import Caches, Engine, Request  # noqa: E402
from engine.config import MINI  # noqa: E402
from engine.generate.sample import Sampling  # noqa: E402
from engine.offload.ahead import Guess, link  # noqa: E402
from engine.offload.experts import FEW, OffloadedExperts  # noqa: E402
from engine.offload.needs import counted  # noqa: E402
from engine.offload.plan import Place, Plan  # noqa: E402
from engine.process.load import placed  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402
from kernels.dispatch import available  # noqa: E402

CONFIG = replace(
    MINI, hidden=64, layers=4, full=(3,), vocab=97, experts=16, latent=32, expert_inter=64, eos=()
)
PROMPT = [(3 * n * n + n) % 96 for n in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("checkpoint")
    save(CONFIG, RandomSource(CONFIG, mxfp4=True), made)
    return made


def model_of(folder: Path, slots: int, kernels: str = available()[0]):
    made = Plan("cpu", {layer: Place("cpu", slots) for layer in (1, 2, 3)}, {}, 16)
    return placed(Checkpoint.open(folder), made, kernels)


@pytest.mark.parametrize("kernels", [available()[0], "reference"])
def test_guesses_change_no_bit(folder, kernels: str) -> None:
    answers = []
    for slots, guessing in ((16, False), (6, True), (6, False), (2, True)):
        model = model_of(folder, slots, kernels)
        linked = [getattr(layer.ffn, "ahead", None) for layer in model.weights.layers]
        assert [ahead is not None for ahead in linked] == [False, slots < 16, slots < 16, False]
        if not guessing:
            for layer in model.weights.layers[1:]:
                layer.ffn.ahead = None
        engine = Engine(model, Caches(16, 4, ram=0), budget=16)
        running = [engine.generate(Request(PROMPT[n:], Sampling(0), 8)) for n in range(3)]
        answers.append([answer.read()[0] for answer in running])
        done = counted(model)
        if done is None:
            assert slots == 16
            continue
        assert done.ahead == 0 or (guessing and slots == 6)
        assert done.used <= min(done.ahead, done.hits)
    assert answers[1:] == answers[:1] * 3


def test_what_a_layer_reads_goes_to_the_next_ones_router(folder) -> None:
    model = model_of(folder, 6)
    one, following = model.weights.layers[1].ffn, model.weights.layers[2].ffn
    ahead, experts = one.ahead, following.experts
    assert isinstance(ahead, Guess)
    assert isinstance(experts, OffloadedExperts)
    x = torch.randn(1, CONFIG.hidden)
    ids, weights = model.ops.route(
        x, following.router, following.bias, CONFIG.top_k, CONFIG.router_scale, CONFIG.renormalise
    )
    ahead(x.expand(FEW + 1, -1))
    experts.kept.settle()
    assert experts.kept.resident == set()
    ahead(x)
    # the thread that reads may be told to stop before its first one: what it did is there all the same
    experts(torch.randn(1, CONFIG.expert_width), ids, weights, CONFIG.glu)
    assert experts.kept.resident == set(ids.flatten().tolist())
    assert experts.kept.counters.used == experts.kept.counters.ahead


def test_resident_layers_are_told_nothing(folder) -> None:
    model = model_of(folder, 16)
    link(model.weights, model.config, model.ops)
    assert all(getattr(layer.ffn, "ahead", None) is None for layer in model.weights.layers)


def test_the_thread_that_reads_ahead_ends_with_the_model(folder) -> None:
    before = set(threading.enumerate())
    model = model_of(folder, 6)
    Engine(model, Caches(16, 4, ram=0), budget=16).score(PROMPT, [[1], [2, 3]])
    one, following = model.weights.layers[1].ffn, model.weights.layers[2].ffn
    one.ahead(torch.randn(1, CONFIG.hidden))
    following.experts.kept.settle()
    (reader,) = set(threading.enumerate()) - before
    del model, one, following
    gc.collect()
    reader.join(60)
    assert not reader.is_alive()


@pytest.mark.parametrize("slots", [2, 6])
def test_a_replayed_step_asks_for_its_own_experts(folder, slots: int) -> None:
    """Every bit, and every expert that is used: what a recorded step asks for is other experts each time."""
    recorded, told = [], []
    for capture in (True, False):
        model = model_of(folder, slots)
        if model.ops.capture is None:
            pytest.skip("no compiled kernels")
        if not capture:
            model.ops = replace(model.ops, capture=None)
        engine = Engine(model, Caches(16, 4, ram=0))
        answers = [engine.generate(Request(PROMPT[n:], Sampling(0), 20)) for n in range(2)]
        told.append([answer.read()[0] for answer in answers])
        recorded.append((len(engine.scheduler.steps._bound), counted(model).hits + counted(model).misses))
    assert told[0] == told[1]
    assert recorded[0][0] > 0
    assert recorded[1][0] == 0
    assert recorded[0][1] == recorded[1][1]
