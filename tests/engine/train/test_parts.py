"""Parts of training by themselves: losses, experts, quantisation, balance, indexers, the optimiser, settings."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from engine.errors import ConfigError  # noqa: E402
from engine.train import settings  # noqa: E402
from engine.train.balance import imbalance, level  # noqa: E402
from engine.train.loss import CrossEntropy, Wanted  # noqa: E402
from engine.train.mixture import experts, route  # noqa: E402
from engine.train.notes import Notes  # noqa: E402
from engine.train.ops import hidden  # noqa: E402
from engine.train.optimiser import orthogonal  # noqa: E402
from engine.train.parameters import Parameters  # noqa: E402
from engine.train.qat import Quantised  # noqa: E402
from engine.train.recall import Recall, best, recall  # noqa: E402
from engine.train.rows import Rows  # noqa: E402
from engine.weights.mxfp4 import pack  # noqa: E402
from kernels.layout import Activation  # noqa: E402
from kernels.reference.mxfp4 import experts as engine_experts  # noqa: E402
from kernels.reference.mxfp4 import unpack  # noqa: E402
from kernels.reference.router import top_lowest  # noqa: E402

SITU = Activation("situ", 4.0, 25.0)


def drawn(*shape: int, seed: int = 0, dtype=torch.float32):
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return made.requires_grad_()


def test_cross_entropy_is_torchs_with_its_gradients():
    x, head = drawn(700, 8), drawn(30, 8, seed=1)
    targets = torch.randint(30, (700,), generator=torch.Generator().manual_seed(2))
    found = CrossEntropy.apply(x, head, targets)
    expected = torch.nn.functional.cross_entropy(x @ head.T, targets, reduction="none")
    torch.testing.assert_close(found, expected)
    for one, other in zip(
        torch.autograd.grad(found.sum() / 7, (x, head)),
        torch.autograd.grad(expected.sum() / 7, (x, head)),
        strict=True,
    ):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_only_what_is_to_be_learnt_is_wanted():
    learn = torch.tensor([True, True, False, True, True, True])
    wanted = Wanted.of(Rows(torch.arange(6) + 10, learn, torch.tensor([0, 3, 6]), ("lm", "bug")))
    assert wanted.rows.tolist() == [0, 3, 4]
    assert wanted.targets.tolist() == [11, 14, 15]
    assert wanted.by_kind(torch.tensor([1.0, 2.0, 3.0])) == {"bug": (5.0, 2), "lm": (1.0, 1)}


def test_experts_are_the_engines_with_gradients_of_their_sum():
    x, weights = (
        drawn(20, 32),
        torch.rand(20, 2, generator=torch.Generator().manual_seed(9), requires_grad=True),
    )
    gate, up, down = (
        drawn(5, *shape, seed=number) for number, shape in enumerate([(64, 32), (64, 32), (32, 64)])
    )
    ids = torch.randint(
        4, (20, 2), generator=torch.Generator().manual_seed(3)
    )  # the fifth expert has no rows
    inputs = (x, weights, gate, up, down)
    found = experts(x, ids, weights, (gate,), (up,), (down,), SITU)
    expected = engine_experts(x, ids, weights, (gate,), (up,), (down,), SITU)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    slope = drawn(20, 32, seed=4).detach()
    for one, other in zip(
        torch.autograd.grad(found, inputs, slope), torch.autograd.grad(expected, inputs, slope), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-3)


def test_quantised_weights_are_what_a_checkpoint_holds_and_pass_gradients():
    weight = drawn(2, 8, 64)
    made = Quantised.apply(weight)
    assert torch.equal(made.float(), unpack(*pack(weight.detach().bfloat16())))
    made.float().sum().backward()
    assert torch.equal(weight.grad, torch.ones_like(weight))


def test_biases_level_loads():
    x, router = drawn(4000, 16).detach(), drawn(8, 16, seed=1).detach() * 0.3
    router[:, 0] += torch.linspace(-1, 1, 8)
    x[:, 0] = 1
    biases = {1: torch.zeros(8)}

    def loads():
        ids, _ = route(x, router, biases[1], 2, 1.0, True)
        return [ids.flatten().bincount(minlength=8)]

    before = imbalance(loads())
    for _ in range(300):
        level(biases, loads(), 0.005)
    assert before > 2
    assert imbalance(loads()) < 1.2


def gradients(config, packed, loss):
    parameters = Parameters(config)
    weights = parameters.weights(torch.float32, False)
    count = len(packed.position)
    tokens = torch.randint(config.vocab, (count,), generator=torch.Generator().manual_seed(0))
    notes = Notes(sparse=True, rows=64)
    x = hidden(config, weights, tokens, packed, torch.arange(count), notes)
    loss(x @ weights.head.T, notes).backward()
    return {
        name for name, tensor in parameters.named.items() if tensor.grad is not None and tensor.grad.any()
    }


def test_an_indexer_learns_from_attention_alone(small, packed):
    by_kl = gradients(small, packed, lambda logits, notes: torch.stack(notes.divergences).sum())
    by_text = gradients(small, packed, lambda logits, notes: logits.square().mean())
    assert by_kl
    assert all(".indexer." in name for name in by_kl)
    assert len(by_kl) == 2 * 5
    assert not any(".indexer." in name for name in by_text)
    assert len(by_text) > 60


def test_the_best_are_those_that_the_engine_takes():
    scores = torch.relu(drawn(40, 40).detach() - 0.5)  # with many ties
    past = torch.ones(40, 40, dtype=torch.bool).tril()
    chosen = best(scores, past, 7)
    for row in range(40):
        expected = torch.arange(row + 1) if row < 7 else top_lowest(scores[row, : row + 1], 7).sort().values
        assert chosen[row].nonzero().flatten().tolist() == expected.tolist()
    seen = torch.arange(1, 41)
    assert torch.equal(chosen[10:], best(scores, past, torch.full((40,), 7).minimum(seen))[10:])


def test_recall_of_what_is_known():
    attention = torch.zeros(1, 100)
    attention[0, 3], attention[0, 99] = 0.75, 0.25
    generator = torch.Generator().manual_seed(0)
    found = recall(attention, attention * 5, attention >= 0, 10, generator).means()
    assert found["quarter"]["indexer"] == found["top"]["indexer"] == 1.0
    assert found["quarter"]["recent"] == found["top"]["recent"] == 0.25
    assert recall(attention[:, :50], attention[:, :50], attention[:, :50] >= 0, 60, generator).means() == {}
    assert Recall.none().means() == {}


def test_orthogonal_matrices_have_singular_values_near_one():
    for shape in ((3, 24, 40), (3, 40, 24)):
        values = torch.linalg.svdvals(orthogonal(drawn(*shape).detach()))
        assert values.min() > 0.4
        assert values.max() < 1.4


def test_rates_grow_stay_and_fall():
    made = settings.Settings(lr=1.0, warmup=10, decay=20, steps=100)
    assert [made.rate(step) for step in (0, 4, 9, 50, 80, 90, 99, 100)] == pytest.approx(
        [0.1, 0.5, 1, 1, 1, 0.5, 0.05, 0]
    )


def test_settings_are_read_and_refused(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        "[model]\nexperts = 8\nindexer = {heads = 2, dim = 16, top_k = 8}\n[train]\nlr = 1\nsteps = 5\n"
    )
    run = settings.read(path)
    assert run.model.indexer is not None
    assert (run.model.experts, run.model.indexer.top_k, run.train.lr, run.train.steps) == (8, 8, 1.0, 5)
    for text, said in (
        ("[train]\nstep = 5", "train.step is not known"),
        ("[train]\nsteps = 'x'", "train.steps"),
        ("[train]\noptimiser = 'sgd'", "muon, adamw"),
        ("[model]\nwidth = 3", "model.width"),
        ("[model]\npreset = 'huge'", "model.preset"),
        ("[rows]\n", "no table"),
        ("[", "run.toml"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=said.replace("[", r"\[")):
            settings.read(path)
    with pytest.raises(ConfigError, match="nowhere"):
        replace(run, data={"rows": "nowhere"}).rows()
