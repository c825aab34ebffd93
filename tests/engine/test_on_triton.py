"""A whole model on Triton's kernels: on a GPU where there is one, else in Triton's interpreter."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields, is_dataclass

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from engine.batch import Batch  # noqa: E402
from engine.cache.pools import Pools  # noqa: E402
from engine.model import Model  # noqa: E402
from engine.step import Steps  # noqa: E402
from kernels.dispatch import available, select  # noqa: E402
from kernels.layout import Sequences  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PIECES = ([22, 4], [3, 0], [1, 1], [1, 1], [1, 1])
"""New tokens of two sequences, step by step: past the indexer's top-k of 24, a step in which one has none."""

pytestmark = pytest.mark.skipif("triton" not in available(DEVICE), reason="neither a GPU nor the interpreter")


def moved(thing, device: str):
    """Weights of any nesting on a device."""
    if isinstance(thing, torch.Tensor):
        return thing.to(device)
    if isinstance(thing, (list, tuple)):
        return type(thing)(moved(part, device) for part in thing)
    if is_dataclass(thing):
        for field in fields(thing):
            setattr(thing, field.name, moved(getattr(thing, field.name), device))
    return thing


def logits(model: Model, device: str, captured: bool = False):
    pools = Pools.allocate(model.config, 12, 2, device=device, page=7)
    table = torch.tensor([[11, 2, 9, 4, 7], [0, 6, 1, 3, 5]], dtype=torch.int32)
    lengths, out, steps = [0, 0], [], Steps(model, pools)
    for new in PIECES:
        tokens = [
            (7 * at + 3 * row) % 97 for row in (0, 1) for at in range(lengths[row], lengths[row] + new[row])
        ]
        lengths = [one + two for one, two in zip(lengths, new, strict=True)]
        s = Sequences.of(new, lengths, [1, 0], table).to(device)
        wanted = torch.arange(len(tokens), device=device)
        batch = Batch(torch.tensor(tokens, device=device), s, wanted, max(lengths))
        out.append(steps.forward(batch) if captured else model.forward(batch, pools))
    return torch.cat(out).cpu()


@pytest.fixture(scope="module")
def expected(tiny):
    return logits(tiny, "cpu")


def test_a_whole_model(tiny, expected) -> None:
    """K3.1 with every kind of layer, in ragged pieces and then token by token."""
    model = Model(tiny.config, moved(deepcopy(tiny.weights), DEVICE), select(DEVICE, "triton-exact"))
    torch.testing.assert_close(logits(model, DEVICE), expected, rtol=1e-4, atol=2e-4)


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU")
def test_a_captured_step_is_the_models_own(tiny, expected) -> None:
    for name in ("triton-exact", "triton"):
        model = Model(tiny.config, moved(deepcopy(tiny.weights), DEVICE), select(DEVICE, name))
        assert torch.equal(logits(model, DEVICE, captured=True), logits(model, DEVICE))
