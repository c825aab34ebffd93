"""A checkpoint folder: config.json and safetensors files, memory-mapped, checked before anything is allocated.

Only safetensors are read: a pickle can run code. Names may stand under `language_model.`.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.errors import CheckpointError
from engine.weights import names
from engine.weights.config_json import read_config

LARGEST_HEADER = 100 << 20
"""Bytes; the safetensors format's own bound."""
DTYPES = {
    "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "U8": torch.uint8, "I8": torch.int8,
    "I32": torch.int32, "I64": torch.int64, "F64": torch.float64, "BOOL": torch.bool,
}  # fmt: skip
PREFIX = "language_model."


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a tensor lies: bytes start … end of `file`."""

    file: Path
    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int
    end: int


class Checkpoint:
    """Tensors by public name, mapped from disk as they are asked for."""

    def __init__(self, folder: Path) -> None:
        """Reads all headers. Errors: CheckpointError, ConfigError; each names the file and what to do."""
        self.folder = folder
        self.config: ModelConfig = read_config(folder / "config.json")
        self.entries: dict[str, Entry] = {}
        for file in shards(folder):
            for name, entry in read_header(file).items():
                plain = name.removeprefix(PREFIX)
                if plain in self.entries:
                    raise CheckpointError(
                        f"{file}: tensor {name} stands in {self.entries[plain].file.name} too"
                    )
                self.entries[plain] = entry
        self._maps: dict[Path, Tensor] = {}

    def check(self) -> None:
        """Every tensor that the config asks for is there, with its shape. Errors: CheckpointError."""
        for name, shape in names.trunk(self.config):
            self._expect(name, shape)
        for layer in names.moe_layers(self.config):
            for name, shape in names.experts(self.config, layer):
                if f"{name}_packed" in self.entries:
                    out, width = shape
                    self._expect(f"{name}_packed", (out, width // 2), torch.uint8)
                    self._expect(f"{name}_scale", (out, width // 32), torch.uint8)
                else:
                    self._expect(name, shape)

    def _expect(self, name: str, shape: tuple[int, ...], dtype: torch.dtype | None = None) -> None:
        entry = self.entries.get(name)
        if entry is None:
            raise CheckpointError(f"{self.folder}: tensor {name} is missing; the download may be incomplete")
        if entry.shape != shape and not _same_vector(entry.shape, shape):
            raise CheckpointError(
                f"{entry.file}: tensor {name} is {list(entry.shape)}, the config wants {list(shape)}"
            )
        if dtype is not None and entry.dtype != dtype:
            raise CheckpointError(f"{entry.file}: tensor {name} is {entry.dtype}, it has to be {dtype}")

    def tensor(self, name: str) -> Tensor:
        """A view of the mapped file; copy before writing to it."""
        entry = self.entries.get(name)
        if entry is None:
            raise CheckpointError(f"{self.folder}: tensor {name} is missing")
        if entry.start == entry.end:
            return torch.empty(entry.shape, dtype=entry.dtype)
        return self._map(entry.file)[entry.start : entry.end].view(entry.dtype).reshape(entry.shape)

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        """A layer's experts of one part: (packed, scales) as they are stored, or one plain tensor. No copy is made
        where they lie one after the other."""
        first = names.expert_name(layer, 0, part)
        suffixes = ("_packed", "_scale") if f"{first}_packed" in self.entries else ("",)
        return tuple(
            self._together([names.expert_name(layer, e, part) + suffix for e in range(self.config.experts)])
            for suffix in suffixes
        )

    def _together(self, wanted: list[str]) -> Tensor:
        entries = [self.entries[name] for name in wanted]
        adjacent = all(one.file == two.file and one.end == two.start for one, two in pairwise(entries))
        if not adjacent:
            return torch.stack([self.tensor(name) for name in wanted])
        whole = self._map(entries[0].file)[entries[0].start : entries[-1].end]
        return whole.view(entries[0].dtype).reshape(len(entries), *entries[0].shape)

    def _map(self, file: Path) -> Tensor:
        if file not in self._maps:
            size = file.stat().st_size
            self._maps[file] = torch.from_file(str(file), shared=False, size=size, dtype=torch.uint8)
        return self._maps[file]

    def bytes(self) -> int:
        return sum(entry.end - entry.start for entry in self.entries.values())


def _same_vector(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """[D], [1, D] and [D, 1, 1] hold the same numbers in the same order."""
    return [n for n in one if n != 1] == [n for n in two if n != 1]


def shards(folder: Path) -> list[Path]:
    """The checkpoint's safetensors files, by its index or all of the folder. Errors: CheckpointError."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            listed = json.loads(index.read_bytes())["weight_map"].values()
        except (ValueError, KeyError, AttributeError) as error:
            raise CheckpointError(f"{index}: no weight_map in it: {error}") from error
        found = [_inside(folder, name) for name in sorted(set(listed))]
    else:
        found = [_inside(folder, path.name) for path in sorted(folder.glob("*.safetensors"))]
    if not found:
        pickles = [path.name for path in folder.glob("*.bin")] + [path.name for path in folder.glob("*.pt")]
        hint = f"; {pickles[0]} is a pickle, which can run code and is never read" if pickles else ""
        raise CheckpointError(f"{folder}: no safetensors files{hint}")
    return found


def _inside(folder: Path, name: object) -> Path:
    """A shard by the name that the index gives it; it may not lead out of the folder. The hub's cache keeps its
    files as links into its own `blobs` folder, two levels up."""
    if not isinstance(name, str) or "/" in name or "\\" in name or name in ("", ".", ".."):
        raise CheckpointError(f"{folder}: the index names {name!r}, which is no plain file name")
    path = folder / name
    if not path.is_file():
        raise CheckpointError(f"{path}: the index names it, but there is no such file")
    target = path.resolve()
    allowed = {folder.resolve(), folder.resolve().parent.parent / "blobs"}
    if target.parent not in allowed:
        raise CheckpointError(f"{path}: leads out of the checkpoint to {target}; put the file itself there")
    return path


def read_header(file: Path) -> dict[str, Entry]:
    """A safetensors file's entries (format 1: length u64, JSON, data). Errors: CheckpointError."""
    size = file.stat().st_size
    with file.open("rb") as handle:
        start = handle.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= length <= min(LARGEST_HEADER, size - 8):
            raise CheckpointError(
                f"{file}: header of {length} bytes in a file of {size}: damaged or no safetensors"
            )
        raw = handle.read(length)
    try:
        listed = json.loads(raw)
        listed.pop("__metadata__", None)
        found = {name: _entry(file, 8 + length, facts) for name, facts in listed.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{file}: damaged header: {error}") from error
    end = max((entry.end for entry in found.values()), default=0)
    if end > size:
        raise CheckpointError(f"{file}: {size} bytes, its tensors need {end}: cut short, fetch it again")
    ordered = sorted(found.values(), key=lambda entry: (entry.start, entry.end))
    for one, two in pairwise(ordered):
        if two.start < one.end:
            raise CheckpointError(f"{file}: two tensors overlap at byte {two.start}: damaged")
    return found


def _entry(file: Path, base: int, facts: dict) -> Entry:
    shape, (start, end) = tuple(facts["shape"]), facts["data_offsets"]
    dtype = DTYPES.get(facts["dtype"])
    if dtype is None:
        raise ValueError(f"dtype {facts['dtype']!r} is not known")
    if not all(isinstance(n, int) and n >= 0 for n in (*shape, start, end)):
        raise ValueError("a shape or offset is no whole number")
    count = 1
    for n in shape:
        count *= n
    if count * dtype.itemsize != end - start:
        raise ValueError(f"{list(shape)} of {facts['dtype']} in {end - start} bytes")
    return Entry(file, dtype, shape, base + start, base + end)
