"""Checkpoints of every public layout are mapped as they lie; every damage is told before anything is allocated."""

from __future__ import annotations

import json
import os
import shutil
import struct
import tracemalloc
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from engine.errors import CheckpointError, EngineError  # noqa: E402
from engine.weights import names  # noqa: E402
from engine.weights.build import build  # noqa: E402
from engine.weights.checkpoint import Checkpoint  # noqa: E402
from engine.weights.random import RandomSource  # noqa: E402

LAYOUTS = [(name, mxfp4) for name in ("kimi-linear", "k3", "k3.1") for mxfp4 in (True, False)]
INDEX = "model.safetensors.index.json"
LAYER = "model-00003-of-00004.safetensors"
"""Layer 1, the first with experts."""


def refused(folder: Path, *words: str) -> str:
    """The words of the error that loading `folder` ends in; little memory may have been taken for it."""
    tracemalloc.start()
    try:
        with pytest.raises(EngineError) as caught:
            checkpoint = Checkpoint.open(folder)
            build(checkpoint.config, checkpoint)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("name", "mxfp4"), LAYOUTS)
def test_what_was_saved_is_loaded(whole, configs, name: str, mxfp4: bool) -> None:
    config = configs[name]
    source, loaded = (
        RandomSource(config, mxfp4=mxfp4, dtype=torch.bfloat16),
        Checkpoint.open(whole[name, mxfp4]),
    )
    assert loaded.config == config
    for tensor, shape in names.trunk(config):
        assert torch.equal(loaded.tensor(tensor).reshape(shape), source.tensor(tensor).reshape(shape)), tensor
    for layer in names.moe_layers(config):
        for part in names.EXPERT_PARTS:
            mine, theirs = loaded.stacked(layer, part), source.stacked(layer, part)
            assert len(mine) == (2 if mxfp4 else 1)
            assert all(torch.equal(one, two) for one, two in zip(mine, theirs, strict=True))


def test_experts_are_used_where_they_are_mapped(whole) -> None:
    loaded = Checkpoint.open(whole["k3.1", True])
    for part in names.EXPERT_PARTS:
        for tensor, suffix in zip(loaded.stacked(1, part), ("_packed", "_scale"), strict=True):
            entry = loaded.entry(names.expert_name(1, 0, part) + suffix)
            mapped = loaded._map(entry.file)[1]
            assert tensor.data_ptr() == mapped.data_ptr() + entry.start
            assert tensor.data_ptr() % 64 == 0 or suffix == "_scale"


def test_a_write_never_reaches_the_file(copied) -> None:
    folder = copied()
    before = (folder / LAYER).read_bytes()
    Checkpoint.open(folder).stacked(1, "w1")[0].fill_(7)
    assert (folder / LAYER).read_bytes() == before


def test_scattered_experts_are_gathered(copied, shard) -> None:
    folder = copied()
    expected = Checkpoint.open(folder).stacked(1, "w1")
    expected = tuple(tensor.clone() for tensor in expected)
    file = shard(folder / LAYER)
    data, header = bytearray(), {}
    for name in reversed(file.tensors()):
        first, last = file.header[name]["data_offsets"]
        header[name] = file.header[name] | {"data_offsets": [len(data), len(data) + last - first]}
        data += file.data[first:last]
    file.header, file.data = header, data
    file.write()
    assert all(map(torch.equal, Checkpoint.open(folder).stacked(1, "w1"), expected))


def test_tensors_that_lie_askew_are_copied(copied, shard) -> None:
    folder = copied()
    expected = Checkpoint.open(folder).tensor("model.layers.1.self_attn.q_proj.weight").clone()
    file = shard(folder / LAYER)
    for name in file.tensors():
        file.header[name]["data_offsets"] = [at + 1 for at in file.header[name]["data_offsets"]]
    file.data = b"\0" + file.data
    for padding in (b"", b" "):  # whatever the header's length is, one of them is odd
        file.data = padding + file.data
        for name in file.tensors() if padding else ():
            file.header[name]["data_offsets"] = [at + 1 for at in file.header[name]["data_offsets"]]
        file.write()
        opened = Checkpoint.open(folder)
        assert torch.equal(opened.tensor("model.layers.1.self_attn.q_proj.weight"), expected)
        build(opened.config, opened)


def test_names_stand_with_or_without_the_prefix(copied, shard) -> None:
    folder = copied("k3")
    (folder / INDEX).unlink()
    for path in folder.glob("*.safetensors"):
        file = shard(path)
        file.header = {
            name if name == "__metadata__" else f"language_model.{name}": facts
            for name, facts in file.header.items()
        }
        file.write()
    opened = Checkpoint.open(folder)
    assert opened.names["lm_head.weight"] == "language_model.lm_head.weight"


def test_a_hub_cache_of_links_is_read(whole, tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    for number, path in enumerate(whole["k3", True].iterdir()):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(blobs / str(number))
    Checkpoint.open(snapshot)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.999])
def test_a_shard_that_is_cut_short(copied, share: float) -> None:
    folder = copied()
    size = (folder / LAYER).stat().st_size
    os.truncate(folder / LAYER, int(size * share))
    assert LAYER in refused(folder, "cut short")


@pytest.mark.parametrize("length", [0, 1, 2**20, 2**40, 2**63, 2**64 - 1])
def test_a_hostile_header_length(copied, length: int) -> None:
    folder = copied()
    with (folder / LAYER).open("r+b") as file:
        file.write(struct.pack("<Q", length))
    refused(folder, LAYER, "header of")


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 200_000, b'{"a":' * 50_000, b"{}x", b"\xff\xfe{}", b"[]", b"null", b'{"a": 1}', b'{"a": {}}',
        b'{"a": {"dtype": "F32", "shape": [1e400], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]}}',
        b'{"a": {"dtype": "F32", "shape": [true], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 8]}}',
        b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "NOPE", "shape": [1], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": ["F32"], "shape": [1], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [1152921504606846976], "data_offsets": [0, 4611686018427387904]}}',
        b'{"a": {"dtype": "F32", "shape": [4611686018427387904, 16], "data_offsets": [0, 0]}}',
        b'{"a": {"dtype": "F32", "shape": [' + b"1," * 100_000 + b'1], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [' + b"9" * 5000 + b'], "data_offsets": [0, 4]}}',
    ],
    ids=lambda raw: raw[:40],
)  # fmt: skip
def test_a_header_that_is_no_header(copied, raw: bytes) -> None:
    folder = copied()
    (folder / LAYER).write_bytes(struct.pack("<Q", len(raw)) + raw + b"\0" * 16)
    refused(folder, LAYER)


@settings(max_examples=200, deadline=None)
@given(
    places=st.lists(st.floats(0, 1), min_size=1, max_size=4),
    pieces=st.lists(
        st.sampled_from([b"9", b"0", b"-", b'"', b"}", b"[", b"e9", b"", b"\xff", b"null", b"99999999999"])
    ),
)
def test_a_header_damaged_anywhere_is_read_or_refused(whole, tmp_path_factory, places, pieces) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    if not folder.exists():
        shutil.copytree(whole["k3.1", True], folder)
    raw = (whole["k3.1", True] / LAYER).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = raw[8 : 8 + length]
    for place, piece in zip(places, pieces, strict=False):
        at = int(place * (len(header) - 1))
        header = header[:at] + piece + header[at + 1 :]
    (folder / LAYER).write_bytes(struct.pack("<Q", len(header)) + header + raw[8 + length :])
    try:
        checkpoint = Checkpoint.open(folder)
        build(checkpoint.config, checkpoint)
    except EngineError as error:
        assert str(folder) in str(error)


def test_tensors_that_overlap(copied, shard) -> None:
    folder = copied()
    file = shard(folder / LAYER)
    one, two = file.tensors()[:2]
    file.header[two]["data_offsets"] = file.header[one]["data_offsets"]
    file.write()
    refused(folder, LAYER, "overlap")


def test_a_name_twice_in_a_header(copied, shard) -> None:
    folder = copied()
    file = shard(folder / LAYER)
    name = file.tensors()[0]
    header = json.dumps(file.header)
    header = f'{header[:-1]}, "{name}": {json.dumps(file.header[name])}}}'.encode()
    (folder / LAYER).write_bytes(struct.pack("<Q", len(header)) + header + file.data)
    refused(folder, name, "twice")


@pytest.mark.parametrize("prefix", ["", "language_model."])
def test_a_name_in_two_files(copied, shard, prefix: str) -> None:
    folder = copied()
    first, second = shard(folder / LAYER), shard(folder / "model-00004-of-00004.safetensors")
    name = first.tensors()[0]
    second.header[prefix + name] = first.header[name] | {"data_offsets": [0, 0], "shape": [0]}
    second.write()
    refused(folder, name, "too")


@pytest.mark.parametrize(
    "name",
    [
        "lm_head.weight", "model.layers.1.self_attn.A_log", "model.layers.2.self_attn.indexer.k_norm.bias",
        "model.layers.1.block_sparse_moe.experts.3.w2.weight_scale",
        "model.layers.1.block_sparse_moe.experts.0.w1.weight_packed",
    ],
)  # fmt: skip
def test_a_tensor_that_is_missing(copied, shard, name: str) -> None:
    folder = copied()
    for path in folder.glob("*.safetensors"):
        file = shard(path)
        if file.header.pop(name, None):
            file.write()
    refused(folder, "missing")


def test_a_tensor_of_another_shape_or_type(copied, shard) -> None:
    folder = copied()
    file = shard(folder / LAYER)
    name = "model.layers.1.self_attn.q_proj.weight"
    out, width = file.header[name]["shape"]
    file.header[name]["shape"] = [width, out]
    file.write()
    refused(folder, name, "the config wants")
    file.header[name] |= {"shape": [out, width], "dtype": "I16"}
    file.write()
    refused(folder, name, "has to be")


@pytest.mark.parametrize("scale", [253, 254, 255])
def test_a_scale_that_makes_no_number(copied, shard, scale: int) -> None:
    folder = copied()
    file = shard(folder / LAYER)
    _, last = file.header["model.layers.1.block_sparse_moe.experts.2.w3.weight_scale"]["data_offsets"]
    file.data[last - 1] = scale
    file.write()
    refused(folder, "layer 1", "w3", str(scale))


def test_links_that_lead_out(copied, tmp_path: Path) -> None:
    folder = copied()
    for name in (LAYER, INDEX, "config.json"):
        (folder / name).rename(tmp_path / name)
        (folder / name).symlink_to(tmp_path / name)
        refused(folder, name, "leads out")
        (folder / name).unlink()
        (tmp_path / name).rename(folder / name)
    Checkpoint.open(folder)


@pytest.mark.parametrize(
    "name", ["../out.safetensors", "/etc/passwd", "", ".", "a\\b.safetensors", "model.bin", 3, None, []]
)
def test_an_index_that_names_what_it_may_not(copied, name: object) -> None:
    folder = copied()
    (folder / INDEX).write_text(json.dumps({"weight_map": {"lm_head.weight": name}}))
    refused(folder)


@pytest.mark.parametrize(
    "raw", ["", "{", "[]", "{}", '{"weight_map": []}', '{"weight_map": {}}', "[" * 100_000]
)
def test_an_index_that_is_damaged(copied, raw: str) -> None:
    folder = copied()
    (folder / INDEX).write_text(raw)
    refused(folder)


def test_a_pickle_is_never_read(copied, tmp_path: Path) -> None:
    folder = copied()
    for path in folder.glob("*.safetensors*"):
        path.unlink()
    canary = tmp_path / "ran"
    (folder / "pytorch_model.bin").write_bytes(f"cos\nsystem\n(S'touch {canary}'\ntR.".encode())
    refused(folder, "pickle", "never read")
    assert not canary.exists()


@pytest.mark.parametrize("kind", ["fifo", "folder", "dangling", "loop"])
def test_a_shard_that_is_no_file(copied, kind: str) -> None:
    folder = copied()
    (folder / LAYER).unlink()
    make = {
        "fifo": lambda: os.mkfifo(folder / LAYER), "folder": (folder / LAYER).mkdir,
        "dangling": lambda: (folder / LAYER).symlink_to("nowhere"),
        "loop": lambda: (folder / LAYER).symlink_to(LAYER),
    }  # fmt: skip
    make[kind]()
    refused(folder, LAYER)


def test_a_file_that_shrinks_after_it_was_opened(copied) -> None:
    folder = copied()
    opened = Checkpoint.open(folder)
    os.truncate(folder / LAYER, 5000)
    with pytest.raises(CheckpointError, match="cut short"):
        opened.tensor("model.layers.1.self_attn.q_proj.weight")
