"""Small checkpoints on disk, and ways to damage one."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from engine.config import K3_1_PRO, K3_VISION, KIMI_LINEAR_48B, Indexer, ModelConfig  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402

SMALL = {
    "hidden": 64, "layers": 3, "vocab": 97, "full": (2,), "kda_heads": 2, "kda_dim": 16, "heads": 2, "kv_lora": 32,
    "nope": 16, "shared_key": 8, "v_dim": 16, "dense_inter": 96, "experts": 4, "top_k": 2, "expert_inter": 32,
    "vision": None, "bos": 1, "eos": (2,),
}  # fmt: skip
VISION = replace(K3_VISION, hidden=32, layers=2, heads=2, inter=48, width=48, grid=8, patches=1024, side=64)
CONFIGS: dict[str, ModelConfig] = {
    "kimi-linear": replace(KIMI_LINEAR_48B, **SMALL, gate_rank=16),
    "k3": replace(K3_1_PRO, **SMALL, q_lora=32, latent=32, attn_res_block=3, indexer=None),
    "k3.1": replace(
        K3_1_PRO,
        **SMALL | {"vision": VISION},
        q_lora=32,
        latent=32,
        attn_res_block=3,
        indexer=Indexer(4, 16, 24),
    ),
}


class Shard:
    """A safetensors file taken apart: header and data, to be put together differently."""

    def __init__(self, path: Path) -> None:
        self.path = path
        raw = path.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        self.header: dict[str, Any] = json.loads(raw[8 : 8 + length])
        self.data = bytearray(raw[8 + length :])

    def write(self) -> None:
        header = json.dumps(self.header).encode()
        self.path.write_bytes(struct.pack("<Q", len(header)) + header + self.data)

    def tensors(self) -> list[str]:
        return [name for name in self.header if name != "__metadata__"]


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], Path]:
    made = {}
    for name, config in CONFIGS.items():
        for mxfp4 in (True, False):
            folder = tmp_path_factory.mktemp(f"{name}-{'mxfp4' if mxfp4 else 'bf16'}")
            save(config, RandomSource(config, mxfp4=mxfp4, dtype=torch.bfloat16), folder)
            made[name, mxfp4] = folder
    return made


@pytest.fixture
def configs() -> dict[str, ModelConfig]:
    return CONFIGS


@pytest.fixture
def copied(whole, tmp_path: Path) -> Callable[..., Path]:
    """A copy of a small checkpoint that a test may damage."""

    def copy(name: str = "k3.1", mxfp4: bool = True) -> Path:
        return shutil.copytree(whole[name, mxfp4], tmp_path / f"{name}-{mxfp4}")

    return copy


@pytest.fixture
def shard() -> type[Shard]:
    return Shard
