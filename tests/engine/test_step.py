"""The compiled kernels run whole models, and a captured step is the model's own."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("kernels.cpu._native")

from engine.batch import Batch  # noqa: E402
from engine.step import Steps  # noqa: E402
from kernels.cpu.capture import Captured, CaptureError  # noqa: E402
from kernels.dispatch import available, select  # noqa: E402
from kernels.layout import Sequences  # noqa: E402

NAMES = ("kimi-linear", "k3", "k3.1")
TOKENS = [(7 * n * n + 3 * n) % 97 for n in range(40)]
PAGES = list(range(4))
EXACT = [name for name in available() if name.endswith("-exact") and not name.startswith("triton")]


def on(runner, name: str | None):
    mine = copy(runner)
    mine.model = copy(runner.model)
    mine.model.ops = select("cpu", name)
    return mine


@pytest.mark.parametrize("kernels", EXACT)
@pytest.mark.parametrize("name", NAMES)
def test_whole_models_on_compiled_kernels(runners, name, kernels) -> None:
    """Exactly but for the order of additions; with the caches filled in pieces, then token by token."""
    runner = on(runners[name], kernels)
    expected = runners[name].run(runners[name].pools(), [(TOKENS, 0, 0, PAGES)])
    pools = runner.pools()
    parts = [runner.run(pools, [(TOKENS[:17], 0, 0, PAGES)])]
    parts += [runner.run(pools, [(TOKENS[at : at + 1], at, 0, PAGES)]) for at in range(17, 40)]
    torch.testing.assert_close(torch.cat(parts), expected, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("name", NAMES)
def test_int8_activations_stay_near(runners, name) -> None:
    """Where tokens went to the same experts: a near tie of the router may fall the other way, in few places."""
    runner, routes = on(runners[name], None), {}

    def run(key: str, model_runner):
        route = model_runner.model.ops.route
        routes[key] = []

        def watched(*arguments):
            routes[key].append(route(*arguments))
            return routes[key][-1]

        watching = copy(model_runner)
        watching.model = copy(model_runner.model)
        watching.model.ops = replace(model_runner.model.ops, route=watched)
        return watching.run(watching.pools(), [(TOKENS[:20], 0, 0, PAGES)])

    got, expected = run("got", runner), run("expected", runners[name])
    alike = torch.ones(20, dtype=torch.bool)
    for (mine, _), (theirs, _) in zip(routes["got"], routes["expected"], strict=True):
        alike &= (mine.sort().values == theirs.sort().values).all(-1)
    first = 20 if alike.all() else int((~alike).nonzero()[0])  # what follows has read that token's state
    assert first >= 4
    assert (got - expected)[:first].norm() <= 0.04 * expected[:first].norm()


def batch_of(at: int, slots: tuple[int, ...], pages: list[list[int]]) -> Batch:
    count = len(slots)
    width = at // 16 + 1
    table = torch.tensor([row[:width] for row in pages], dtype=torch.int32)
    sequences = Sequences.of([1] * count, [at + 1] * count, list(slots), table)
    tokens = torch.tensor([(TOKENS[at] + slot) % 97 for slot in slots])
    return Batch(tokens, sequences, torch.arange(count), at + 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_captured_step_is_the_models_own(runners, name) -> None:
    """Over pages that fill, past the indexer's top-k, alone and in company: every bit."""
    runner = on(runners[name], None)
    one, two = runner.pools(), runner.pools()
    steps = Steps(runner.model, two)
    for slots, pages in (((1,), [[5, 3, 9]]), ((2, 0), [[10, 11, 12], [7, 6, 8]])):
        for at in range(40):
            batch = batch_of(at, slots, pages)
            assert torch.equal(steps.forward(batch), runner.model.forward(batch, one))
    for mine, other in ((one.states, two.states), (one.latents, two.latents), (one.keys, two.keys)):
        assert all(torch.equal(mine[layer], other[layer]) for layer in mine)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_given_as_numbers_is_the_models_own(runners, name) -> None:
    """Every bit, over pages that fill and others that take their place, mixed with steps given as tensors."""
    runner = on(runners[name], None)
    one, two = runner.pools(), runner.pools()
    steps = Steps(runner.model, two)
    told = 0
    for slots, pages in (((1,), [[5, 3, 9]]), ((2, 0), [[10, 11, 12], [7, 6, 8]]), ((1,), [[2, 1, 0]])):
        for at in range(40):
            batch = batch_of(at, slots, pages)
            expected = runner.model.forward(batch, one)
            used = [row[: at // 16 + 1] for row in pages]
            numbers = batch.tokens.tolist(), [at + 1] * len(slots), list(slots), used
            made = steps.replay(*numbers) if at % 5 else None
            told += made is not None
            got = steps.forward(batch) if made is None else torch.from_numpy(made)
            assert torch.equal(got, expected)
    assert told > 60
    assert steps.replay([1] * 3, [1] * 3, [0, 1, 2], [[0], [1], [2]]) is None, "no step of three was recorded"
    for mine, other in ((one.states, two.states), (one.latents, two.latents), (one.keys, two.keys)):
        assert all(torch.equal(mine[layer], other[layer]) for layer in mine)


def test_a_replay_reads_its_memory_anew_and_refuses_what_it_cannot_see() -> None:
    ops = select()
    x, weight = torch.ones(1, 8), torch.ones(3, 8)
    captured = Captured(lambda: ops.add(ops.linear(x, weight), torch.ones(1, 3)))
    assert len(captured) == 2
    assert captured.result.tolist() == [[9.0] * 3]
    x.fill_(2.0)
    assert captured.replay().tolist() == [[17.0] * 3]
    with pytest.raises(CaptureError, match="no compiled kernel"):
        Captured(lambda: ops.linear(x.half(), weight.half()))
    ops.linear(x, weight)
    assert len(captured) == 2
