"""Quantising: exact, resumable from a stop at any operation, in bounded memory, never on a disk that is too small."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import CapacityError, CheckpointError, ConfigError  # noqa: E402
from engine.weights import mxfp4, names, quantize  # noqa: E402
from engine.weights.build import build  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402
from engine.weights.save import save  # noqa: E402
from kernels.reference.mxfp4 import pack, unpack  # noqa: E402


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 1 << 30),
    exponent=st.integers(-45, 38),
    spread=st.floats(0, 8),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.float16]),
    zeros=st.floats(0, 1),
)
def test_the_fast_packing_is_the_reference(seed, exponent, spread, dtype, zeros) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(4, 64, generator=generator) * torch.exp(torch.randn(4, 64, generator=generator) * spread)
    x = (x * 10.0**exponent).clamp(-3e38, 3e38).to(dtype)
    x = torch.where(torch.isfinite(x), x, torch.zeros((), dtype=dtype))
    x = torch.where(torch.rand(4, 64, generator=generator) < zeros, torch.zeros((), dtype=dtype).neg(), x)
    for mine, reference in zip(mxfp4.pack(x), pack(x.float()), strict=True):
        assert torch.equal(mine, reference)


def test_every_bf16_number_is_packed_as_the_reference_does() -> None:
    bits = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    for top in (6.0, 1.0, 1.7e-38, 3e38):
        blocks = bits[torch.isfinite(bits)].float().clamp(-top, top).bfloat16()
        blocks = torch.cat(
            [blocks[: blocks.numel() // 31 * 31].reshape(-1, 31), torch.full((blocks.numel() // 31, 1), top)],
            1,
        )
        blocks = blocks.bfloat16()
        for mine, reference in zip(mxfp4.pack(blocks), pack(blocks.float()), strict=True):
            assert torch.equal(mine, reference)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_not_packed(bad: float) -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = torch.zeros(2, 32, dtype=dtype)
        x[1, 5] = bad
        with pytest.raises(ValueError, match="NaN"):
            mxfp4.pack(x)


@pytest.mark.parametrize("name", ["kimi-linear", "k3", "k3.1"])
def test_experts_are_packed_and_the_rest_is_copied(whole, tmp_path: Path, name: str) -> None:
    quantize.quantize(whole[name, False], tmp_path / "q")
    plain, packed = Checkpoint.open(whole[name, False]), Checkpoint.open(tmp_path / "q")
    for tensor, _ in names.trunk(plain.config):
        assert torch.equal(plain.tensor(tensor), packed.tensor(tensor))
    for layer in names.moe_layers(plain.config):
        for part in names.EXPERT_PARTS:
            expected = pack(plain.stacked(layer, part)[0].float())
            assert all(map(torch.equal, packed.stacked(layer, part), expected))
            first = packed.entry(names.expert_name(layer, 0, part) + "_packed")
            assert (
                packed.stacked(layer, part)[0].data_ptr()
                == packed._map(first.file)[1].data_ptr() + first.start
            )
    assert all(
        entry.dtype == torch.bfloat16
        for tensor, entry in packed.entries.items()
        if tensor.startswith(("vision_tower.", "mm_projector."))
    )
    assert packed.config == plain.config
    config = json.loads((tmp_path / "q" / "config.json").read_text())
    assert config["quantization_config"]["format"] == "mxfp4-pack-quantized"
    build(packed.config, packed)


def test_back_to_bf16_and_again_is_the_same(whole, tmp_path: Path) -> None:
    packed = whole["k3.1", True]
    quantize.dequantize(packed, tmp_path / "wide")
    wide = Checkpoint.open(tmp_path / "wide")
    assert wide.stacked(1, "w1")[0].dtype == torch.bfloat16
    assert torch.equal(wide.stacked(1, "w2")[0].float(), unpack(*Checkpoint.open(packed).stacked(1, "w2")))
    assert "quantization_config" not in json.loads((tmp_path / "wide" / "config.json").read_text())
    quantize.quantize(tmp_path / "wide", tmp_path / "again")
    assert contents(tmp_path / "again").keys() - {"SHA256SUMS"} == contents(packed).keys()
    for part in names.EXPERT_PARTS:
        one, two = (Checkpoint.open(folder).stacked(2, part) for folder in (packed, tmp_path / "again"))
        assert torch.equal(unpack(*one), unpack(*two))


def test_prefixes_and_files_beside_are_kept(copied, shard, tmp_path: Path) -> None:
    folder = copied("k3", False)
    (folder / "model.safetensors.index.json").unlink()
    for path in folder.glob("*.safetensors"):
        file = shard(path)
        file.header = {
            name if name == "__metadata__" else f"language_model.{name}": facts
            for name, facts in file.header.items()
        }
        file.write()
    (folder / "README.md").write_text("a card")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "modeling.py").write_text("raise SystemExit")
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    quantize.quantize(folder, tmp_path / "q")
    made = contents(tmp_path / "q")
    assert made["README.md"] == b"a card"
    assert "tokenizer.json" in made
    assert not {"modeling.py", "pytorch_model.bin"} & made.keys()
    names_ = json.loads(made["model.safetensors.index.json"])["weight_map"]
    assert "language_model.model.layers.1.block_sparse_moe.experts.0.w1.weight_packed" in names_


def test_a_stop_at_any_operation_is_gone_on_from(configs, tmp_path: Path, monkeypatch) -> None:
    """At each write, sync and rename in turn the process dies; the same call then ends as if nothing had been."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the machine lives on, so nothing depends on it
    source, config = tmp_path / "source", replace(configs["kimi-linear"], layers=2, full=(1,), experts=2)
    save(config, RandomSource(config, mxfp4=False, dtype=torch.bfloat16), source)
    quantize.quantize(source, tmp_path / "whole")
    expected = contents(tmp_path / "whole")
    stops = 0
    for stop in range(10_000):
        target = tmp_path / f"stop-{stop}"
        if not _dies_at(stop, lambda target=target: quantize.quantize(source, target)):
            break
        stops += 1
        assert not (target / "config.json").exists() or (target / quantize.PROGRESS).exists()
        quantize.quantize(source, target)
        assert contents(target) == expected
        shutil.rmtree(target)
    assert stops > 30


def test_only_what_is_missing_is_done_again(whole, tmp_path: Path) -> None:
    source, target = whole["k3.1", False], tmp_path / "q"
    assert _dies_at(
        -1,
        lambda: quantize.quantize(source, target, lambda file, *_: os._exit(9) if "2-of" in file else None),
    )
    kept = {path.name: path.stat().st_mtime_ns for path in target.glob("*.safetensors")}
    assert len(kept) == 2
    reports: list[tuple[str, int, int]] = []
    quantize.quantize(source, target, lambda *report: reports.append(report))
    assert {name: (target / name).stat().st_mtime_ns for name in kept} == kept
    assert reports[-1][1] == reports[-1][2]


def _dies_at(stop: int, work: Callable[[], None]) -> bool:
    """Runs `work` in a child that is gone at operation `stop` (−1: only by itself); whether it was."""
    child = os.fork()
    if child == 0:
        count = 0

        def counted(real: Callable) -> Callable:
            def call(*args, **kwargs):
                nonlocal count
                if count == stop:
                    os._exit(9)
                count += 1
                return real(*args, **kwargs)

            return call

        os.write, os.fsync, os.replace, os.rename, os.unlink = map(
            counted, (os.write, os.fsync, os.replace, os.rename, os.unlink)
        )
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 9)
    return status == 9


def test_a_source_that_changed_is_not_gone_on_with(copied, tmp_path: Path) -> None:
    source, target = copied("k3.1", False), tmp_path / "q"
    assert _dies_at(20, lambda: quantize.quantize(source, target))
    os.utime(next(source.glob("*.safetensors")), ns=(1, 1))
    with pytest.raises(CheckpointError, match="another conversion"):
        quantize.quantize(source, target)


def test_an_occupied_folder_is_left_alone(whole, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for target in (tmp_path, whole["k3.1", False]):
        before = contents(target)
        with pytest.raises(CheckpointError, match="not empty"):
            quantize.quantize(whole["k3.1", False], target)
        assert contents(target) == before


def test_two_at_once_on_one_folder(whole, tmp_path: Path) -> None:
    target = tmp_path / "q"
    target.mkdir()
    fd = os.open(target, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        with pytest.raises(CheckpointError, match="another process"):
            quantize.quantize(whole["k3.1", False], target)
    finally:
        os.close(fd)


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(
    whole, tmp_path: Path, monkeypatch
) -> None:
    real = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: real._replace(free=1000))
    with pytest.raises(CapacityError, match="nothing was written"):
        quantize.quantize(whole["k3.1", False], tmp_path / "q")
    assert not list((tmp_path / "q").iterdir())


def test_a_disk_that_fills_up_is_gone_on_from(whole, tmp_path: Path) -> None:
    import resource

    source, target = whole["k3.1", False], tmp_path / "q"
    child = os.fork()
    if child == 0:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            quantize.quantize(source, target)
        except CapacityError as error:
            os._exit(9 if "same command again" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert not list(target.glob(".*.part"))
    quantize.quantize(source, target)
    Checkpoint.open(target)


def test_what_can_not_be_quantised(copied, shard, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="already"):
        quantize.quantize(copied("k3", True), tmp_path / "q")
    plain = copied("k3", False)
    with pytest.raises(ConfigError, match="no MXFP4"):
        quantize.dequantize(plain, tmp_path / "q")
    file = shard(plain / "model-00003-of-00004.safetensors")
    first, _ = file.header["model.layers.1.block_sparse_moe.experts.1.w1.weight"]["data_offsets"]
    file.data[first : first + 2] = b"\xc0\x7f"
    file.write()
    with pytest.raises(CheckpointError, match=r"experts\.1\.w1.*NaN"):
        quantize.quantize(plain, tmp_path / "q")
