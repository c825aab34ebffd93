"""What inspecting says is what loading and allocating do; what verifying says is what was damaged."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from engine.cache.pools import Pools  # noqa: E402
from engine.config import MINI, PRESETS, ModelConfig  # noqa: E402
from engine.errors import CheckpointError  # noqa: E402
from engine.weights import inspect, names, quantize  # noqa: E402
from engine.weights.build import build  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.kinds import OTHER, kind_of  # noqa: E402
from engine.weights.save import save  # noqa: E402
from engine.weights.verify import verify  # noqa: E402

LAYER = "model-00003-of-00004.safetensors"


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_every_tensor_of_a_model_has_a_kind(config) -> None:
    found = {kind_of(name) for name, _ in names.trunk(config)} | {kind_of(names.expert_name(1, 0, "w1"))}
    assert OTHER not in found
    assert {"attention", "linear attention", "router", "routed experts", "shared experts", "norms"} <= found
    assert ("indexer" in found) == (config.indexer is not None)


def test_the_table_counts_every_byte(whole) -> None:
    for folder in whole.values():
        checkpoint = Checkpoint.open(folder)
        rows = inspect.table(checkpoint)
        assert sum(row.bytes for row in rows) == checkpoint.bytes()
        assert sum(row.tensors for row in rows) == len(checkpoint.entries)
        files = sum(path.stat().st_size for path in checkpoint.files)
        assert checkpoint.bytes() < files < checkpoint.bytes() * 3


@pytest.mark.parametrize("name", ["kimi-linear", "k3", "k3.1"])
def test_the_caches_are_predicted_to_the_byte(configs, name: str) -> None:
    for dtype in (torch.float32, torch.bfloat16):
        pools = Pools.allocate(configs[name], 6, 2, dtype)
        assert inspect.pools_bytes(configs[name], 6, 2, dtype, pools.page) == pools.bytes()


def test_what_loading_makes_anew_is_predicted_to_the_byte(whole) -> None:
    for folder in whole.values():
        checkpoint = Checkpoint.open(folder)
        weights = build(checkpoint.config, checkpoint)
        mapped = [checkpoint._map(file)[1] for file in checkpoint.files]
        spans = [(tensor.data_ptr(), tensor.data_ptr() + len(tensor)) for tensor in mapped]
        made = [
            tensor
            for tensor in _tensors(weights)
            if not any(first <= tensor.data_ptr() < last for first, last in spans)
        ]
        # small vectors that are fp32 in the file are not copied, and convolutions keep the file's type
        predicted = inspect.predict(checkpoint, 64).derived
        assert 0 < sum(tensor.numel() * tensor.element_size() for tensor in made) <= predicted


def _tensors(place: object) -> list:
    if isinstance(place, torch.Tensor):
        return [place]
    if isinstance(place, list | tuple):
        return [tensor for part in place for tensor in _tensors(part)]
    fields = getattr(place, "__dataclass_fields__", {})
    return [tensor for field in fields for tensor in _tensors(getattr(place, field))]


def test_absurd_sizes_are_predicted_without_being_allocated() -> None:
    config = PRESETS["k3.1-pro"]
    assert inspect.pools_bytes(config, 1 << 30, 1 << 20, torch.float32, 64) > 1 << 50


class Even:
    """Weights that cost nothing to draw."""

    def __init__(self, config: ModelConfig) -> None:
        self.config, self.shapes = config, dict(names.trunk(config))

    def tensor(self, name: str):
        return torch.full(self.shapes[name], 0.01, dtype=torch.bfloat16)

    def stacked(self, layer: int, part: str) -> tuple:
        inner, width = self.config.expert_inter, self.config.expert_width
        out, into = (width, inner) if part == "w2" else (inner, width)
        packed = torch.full((self.config.experts, out, into // 2), 0x11, dtype=torch.uint8)
        return packed, torch.full((self.config.experts, out, into // 32), 120, dtype=torch.uint8)


def test_what_is_resident_is_what_was_predicted(tmp_path: Path) -> None:
    """A process of its own loads a checkpoint, touches all of it, and holds what was said within 5 %."""
    config = replace(
        MINI, hidden=768, vocab=20_000, experts=64, latent=384, expert_inter=1024, dense_inter=2048
    )
    save(config, Even(config), tmp_path)
    code = """
import sys, torch
from pathlib import Path
torch.set_num_threads(1)
from engine.cache.pools import Pools
from engine.weights import inspect
from engine.weights.build import build
from engine.weights.checkpoint import Checkpoint
checkpoint = Checkpoint(Path(sys.argv[1]))
predicted = inspect.predict(checkpoint, 20000, 2)
weights = build(checkpoint.config, checkpoint)
pools = Pools.allocate(checkpoint.config, 2 * -(-20000 // 64), 2)
for pool in (*pools.latents.values(), *pools.keys.values(), *pools.states.values(), *pools.convs.values()):
    pool.fill_(1)
for entry in checkpoint.entries.values():
    checkpoint._view(entry).view(torch.uint8).max()
said = predicted.total - predicted.step  # none is made here
print(inspect.resident() / said, said - predicted.process)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    ratio, own = map(float, done.stdout.split())
    assert own > 300e6
    assert 0.95 < ratio < 1.05


def test_a_whole_checkpoint_is_verified(whole, tmp_path: Path) -> None:
    quantize.quantize(whole["k3.1", False], tmp_path / "q")
    told = []
    verdicts = verify(Checkpoint(tmp_path / "q"), told.append)
    assert told == verdicts
    for verdict in verdicts:
        assert verdict.sha256 == verdict.expected
        assert verdict.sha256 == hashlib.sha256((tmp_path / "q" / verdict.file).read_bytes()).hexdigest()
        assert not verdict.problems
    assert all(
        not verdict.expected and not verdict.problems for verdict in verify(Checkpoint(whole["k3.1", True]))
    )


def test_a_bit_that_flipped_is_found_by_the_hash(whole, tmp_path: Path) -> None:
    quantize.quantize(whole["k3.1", False], tmp_path / "q")
    path = tmp_path / "q" / LAYER
    raw = bytearray(path.read_bytes())
    raw[-100] ^= 1
    path.write_bytes(raw)
    damaged = [verdict for verdict in verify(Checkpoint(tmp_path / "q")) if verdict.problems]
    assert [verdict.file for verdict in damaged] == [LAYER]
    assert "fetch it again" in damaged[0].problems[0]


def test_a_hub_caches_names_are_hashes(whole, tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    for path in whole["k3", True].iterdir():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        shutil.copy(path, blobs / digest)
        (snapshot / path.name).symlink_to(blobs / digest)
    assert all(verdict.expected and not verdict.problems for verdict in verify(Checkpoint(snapshot)))


@pytest.mark.parametrize(
    ("tensor", "raw", "words"),
    [
        ("model.layers.1.self_attn.q_proj.weight", b"\xc0\x7f", "1 values that are no finite number"),
        ("model.layers.1.input_layernorm.weight", b"\x80\xff", "1 values that are no finite number"),
        ("model.layers.1.self_attn.dt_bias", b"\0\0\xc0\x7f", "1 values that are no finite number"),
        ("model.layers.1.block_sparse_moe.experts.3.w2.weight_scale", b"\xff\xfd", "2 scales above 252"),
    ],
)
def test_numbers_that_are_none_are_found(copied, shard, tensor: str, raw: bytes, words: str) -> None:
    folder = copied()
    file = shard(folder / LAYER)
    first, _ = file.header[tensor]["data_offsets"]
    file.data[first : first + len(raw)] = raw
    file.write()
    (damaged,) = [verdict for verdict in verify(Checkpoint(folder)) if verdict.problems]
    assert damaged.problems == (f"tensor {tensor}: {words}",)


def test_a_missing_tensor_is_told_before_anything_is_read(copied, shard) -> None:
    folder = copied()
    file = shard(folder / LAYER)
    del file.header["model.layers.1.self_attn.dt_bias"]
    file.write()
    with pytest.raises(CheckpointError, match="missing"):
        verify(Checkpoint(folder), lambda _: pytest.fail("read"))
