"""Small checkpoints of one layer of experts, stored in every way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from engine.config import KIMI_LINEAR_48B, ModelConfig  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402

CONFIG = replace(
    KIMI_LINEAR_48B, hidden=64, layers=2, vocab=17, full=(1,), kda_heads=1, kda_dim=16, heads=1, kv_lora=32, nope=16,
    shared_key=8, v_dim=16, dense_inter=32, experts=12, top_k=3, expert_inter=96, gate_rank=16, bos=1, eos=(2,),
)  # fmt: skip
KINDS = {"mxfp4": torch.bfloat16, "bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
"""What experts are stored as, and what all else is."""


@pytest.fixture(scope="session")
def small() -> ModelConfig:
    return CONFIG


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    made = {}
    for kind, dtype in KINDS.items():
        made[kind] = tmp_path_factory.mktemp("experts")
        save(CONFIG, RandomSource(CONFIG, mxfp4=kind == "mxfp4", dtype=dtype), made[kind])
    return made


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as made:
        yield made
