"""A small model of every kind of layer, and texts of several lengths."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from engine.config import MINI, Indexer, ModelConfig  # noqa: E402
from engine.train.packed import Packed  # noqa: E402

SMALL = replace(
    MINI, hidden=64, layers=5, vocab=97, full=(3, 4), kda_heads=2, kda_dim=16, heads=2, q_lora=32, kv_lora=32, nope=16,
    shared_key=8, v_dim=16, dense_inter=96, experts=8, expert_inter=32, latent=32, attn_res_block=3,
    indexer=Indexer(4, 16, 24),
)  # fmt: skip


@pytest.fixture(scope="session")
def small() -> ModelConfig:
    return SMALL


@pytest.fixture(scope="session")
def lengths() -> list[int]:
    """Below and above the top-k of 24, below and above a chunk of 32, and single tokens."""
    return [33, 1, 70, 24, 7, 32]


@pytest.fixture(scope="session")
def packed(lengths) -> Packed:
    return Packed.at(torch.tensor([0, *lengths]).cumsum(0))
