"""Checkpoints that we quantise, read by compressed-tensors: its config and its numbers, bit for bit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("compressed_tensors")

from compressed_tensors.compressors import MXFP4PackedCompressor  # noqa: E402
from compressed_tensors.quantization import QuantizationConfig  # noqa: E402
from safetensors import safe_open  # noqa: E402

from engine.config import KIMI_LINEAR_48B  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.quantize import quantize  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402
from kernels.reference.mxfp4 import unpack  # noqa: E402

CONFIG = replace(
    KIMI_LINEAR_48B, hidden=64, layers=2, full=(1,), vocab=97, kda_heads=2, kda_dim=16, gate_rank=16, heads=2,
    kv_lora=32, nope=16, shared_key=8, v_dim=16, dense_inter=96, experts=3, top_k=2, expert_inter=96, bos=1, eos=(2,),
)  # fmt: skip


@pytest.fixture(scope="module")
def quantised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ct")
    save(CONFIG, RandomSource(CONFIG, mxfp4=False, dtype=torch.bfloat16), folder / "plain")
    quantize(folder / "plain", folder / "q")
    return folder / "q"


def test_its_config_is_understood(quantised: Path) -> None:
    raw = json.loads((quantised / "config.json").read_text())["quantization_config"]
    config = QuantizationConfig.model_validate(raw)
    (scheme,) = config.config_groups.values()
    assert (scheme.weights.num_bits, scheme.weights.group_size, scheme.weights.type) == (4, 32, "float")
    assert config.format == "mxfp4-pack-quantized"


def test_its_numbers_are_ours(quantised: Path) -> None:
    checkpoint = Checkpoint.open(quantised)
    (scheme,) = QuantizationConfig.model_validate(
        json.loads((quantised / "config.json").read_text())["quantization_config"]
    ).config_groups.values()
    seen = 0
    for file in checkpoint.files:
        with safe_open(str(file), "pt") as opened:
            for name in opened.keys():  # noqa: SIM118 - no mapping
                if not name.endswith("_packed"):
                    continue
                seen += 1
                packed, scale = opened.get_tensor(name), opened.get_tensor(name.replace("_packed", "_scale"))
                state = {"weight_packed": packed, "weight_scale": scale}
                theirs = MXFP4PackedCompressor.decompress(state, scheme)["weight"]
                assert torch.equal(theirs.float(), unpack(packed, scale))
    assert seen == 9
