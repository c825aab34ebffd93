"""Small models on random weights, and their logits by the reference kernels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from engine.batch import Batch  # noqa: E402
from engine.cache.pools import Pools  # noqa: E402
from engine.config import ModelConfig  # noqa: E402
from engine.model import Model  # noqa: E402
from engine.weights.build import Source, build  # noqa: E402
from kernels.dispatch import REFERENCE  # noqa: E402
from kernels.layout import Sequences  # noqa: E402

Logits = Callable[[ModelConfig, Source, "torch.Tensor"], "torch.Tensor"]


@pytest.fixture(scope="session")
def logits() -> Logits:
    """(config, weights, tokens [N]) → logits [N, vocab] of one text, prefilled at once."""

    def run(config: ModelConfig, source: Source, tokens: torch.Tensor) -> torch.Tensor:
        count = len(tokens)
        pages = -(-count // 64)
        sequences = Sequences.of([count], [count], [0], torch.arange(pages, dtype=torch.int32)[None])
        batch = Batch(tokens, sequences, torch.arange(count), count)
        model = Model(config, build(config, source), REFERENCE)
        return model.forward(batch, Pools.allocate(config, pages, 1, page=64))

    return run
