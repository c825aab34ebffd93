"""A checkpoint folder: config.json and safetensors files, memory-mapped, checked before anything is allocated.

Only safetensors are read: a pickle can run code. Names may stand under `language_model.`.
"""

from __future__ import annotations

import mmap
import sys
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.errors import CheckpointError
from engine.weights import names
from engine.weights.config_json import read_config
from engine.weights.files import shards
from engine.weights.header import Entry, read_header

PREFIX = "language_model."
FLOATS = (torch.float32, torch.bfloat16, torch.float16)
BYTES = (torch.uint8,)
LARGEST_SCALE = 252
"""2^125: six times it is the largest float32 there is room for. 255 is NaN."""
# Without it the kernel refuses to map a file that is larger than memory; Python names the constant from 3.13 on.
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


class Checkpoint:
    """Tensors by public name, mapped from disk as they are asked for."""

    def __init__(self, folder: Path) -> None:
        """Reads all headers. Errors: CheckpointError, ConfigError; each names the file and what to do."""
        self.folder = folder
        self.config: ModelConfig = read_config(folder / "config.json")
        self.files = shards(folder)
        self.entries: dict[str, Entry] = {}
        self.names: dict[str, str] = {}
        """Public name → the name that the files give it."""
        for file in self.files:
            for name, entry in read_header(file).items():
                plain = name.removeprefix(PREFIX)
                if plain in self.entries:
                    raise CheckpointError(
                        f"{file}: tensor {name} stands in {self.entries[plain].file.name} too"
                    )
                self.entries[plain], self.names[plain] = entry, name
        self._maps: dict[Path, tuple[mmap.mmap, Tensor]] = {}

    @classmethod
    def open(cls, folder: Path) -> Checkpoint:
        """A checkpoint that is whole: every tensor is there, of the shape and type that it has to have."""
        opened = cls(folder)
        opened.check()
        return opened

    def check(self) -> None:
        """Every tensor that the config asks for is there, with its shape and type. Errors: CheckpointError."""
        for name, shape in names.trunk(self.config):
            self._expect(name, shape, FLOATS)
        for layer in names.moe_layers(self.config):
            packed = self.packed(layer)
            for name, (out, width) in names.experts(self.config, layer):
                if packed:
                    self._expect(f"{name}_packed", (out, width // 2), BYTES)
                    self._expect(f"{name}_scale", (out, width // 32), BYTES)
                else:
                    self._expect(name, (out, width), FLOATS)

    def packed(self, layer: int) -> bool:
        """Whether the layer's routed experts are MXFP4."""
        return f"{names.expert_name(layer, 0, names.EXPERT_PARTS[0])}_packed" in self.entries

    def suffixes(self, layer: int) -> tuple[str, ...]:
        """What the names of the layer's routed experts end in: MXFP4 has packed values and scales."""
        return ("_packed", "_scale") if self.packed(layer) else ("",)

    def check_scales(self, scales: Tensor, what: str) -> None:
        """Errors: CheckpointError for scales that make no number."""
        largest = int(scales.numpy().max())  # on this thread alone, others compute meanwhile
        if largest > LARGEST_SCALE:
            raise CheckpointError(
                f"{self.folder}: {what}: a scale of {largest}, which makes no number; fetch the checkpoint again"
            )

    def _expect(self, name: str, shape: tuple[int, ...], dtypes: tuple[torch.dtype, ...]) -> None:
        entry = self.entry(name)
        if entry.shape != shape and not _same_vector(entry.shape, shape):
            raise CheckpointError(
                f"{entry.file}: tensor {name} is {list(entry.shape)}, the config wants {list(shape)}"
            )
        if entry.dtype not in dtypes:
            wanted = " or ".join(str(dtype) for dtype in dtypes)
            raise CheckpointError(f"{entry.file}: tensor {name} is {entry.dtype}, it has to be {wanted}")

    def entry(self, name: str) -> Entry:
        entry = self.entries.get(name)
        if entry is None:
            raise CheckpointError(f"{self.folder}: tensor {name} is missing; the download may be incomplete")
        return entry

    def tensor(self, name: str) -> Tensor:
        """A view of the mapped file, or a copy where it lies askew there; copy before writing to it."""
        return self._view(self.entry(name))

    def stacked(self, layer: int, part: str) -> tuple[Tensor, ...]:
        """A layer's experts of one part: (packed, scales) as they are stored, or one plain tensor. No copy is made
        where they lie one after the other. Errors: CheckpointError, also for scales that make no number."""
        stacks = tuple(self._together(layer, part, suffix) for suffix in self.suffixes(layer))
        if self.packed(layer):
            self.check_scales(stacks[-1], f"layer {layer}, experts' {part}")
        return stacks

    def _together(self, layer: int, part: str, suffix: str) -> Tensor:
        wanted = [names.expert_name(layer, e, part) + suffix for e in range(self.config.experts)]
        entries = [self.entry(name) for name in wanted]
        first = entries[0]
        for name, entry in zip(wanted, entries, strict=True):
            if (entry.shape, entry.dtype) != (first.shape, first.dtype):
                raise CheckpointError(f"{entry.file}: tensor {name} is not of {wanted[0]}'s shape and type")
        if all(one.file == two.file and one.end == two.start for one, two in pairwise(entries)):
            shape = (len(entries), *first.shape)
            return self._view(Entry(first.file, first.dtype, shape, first.start, entries[-1].end))
        whole = torch.empty((len(entries), *first.shape), dtype=first.dtype)
        for row, entry in zip(whole, entries, strict=True):
            row.copy_(self._view(entry))
            self._let_go(entry)
        return whole

    def _view(self, entry: Entry) -> Tensor:
        if entry.bytes == 0:
            return torch.empty(entry.shape, dtype=entry.dtype)
        raw = self._map(entry.file)[1][entry.start : entry.end]
        if entry.start % entry.dtype.itemsize:
            raw = raw.clone()
        return raw.view(entry.dtype).reshape(entry.shape)

    def _let_go(self, entry: Entry) -> None:
        """What was copied needn't stay in memory a second time."""
        first = -(-entry.start // mmap.PAGESIZE) * mmap.PAGESIZE
        length = entry.end // mmap.PAGESIZE * mmap.PAGESIZE - first
        if length > 0:
            self._map(entry.file)[0].madvise(mmap.MADV_DONTNEED, first, length)

    def _map(self, file: Path) -> tuple[mmap.mmap, Tensor]:
        """Private: a stray write would change memory, never the file."""
        if file not in self._maps:
            needed = max(entry.end for entry in self.entries.values() if entry.file == file)
            with file.open("rb") as handle:
                size = file.stat().st_size
                if size < needed:
                    raise CheckpointError(
                        f"{file}: {size} bytes, its tensors need {needed}: it was cut short"
                    )
                mapped = mmap.mmap(
                    handle.fileno(),
                    size,
                    flags=mmap.MAP_PRIVATE | _NORESERVE,
                    prot=mmap.PROT_READ | mmap.PROT_WRITE,
                )
            self._maps[file] = mapped, torch.frombuffer(mapped, dtype=torch.uint8)
        return self._maps[file]

    def bytes(self) -> int:
        return sum(entry.bytes for entry in self.entries.values())


def _same_vector(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """[D], [1, D] and [D, 1, 1] hold the same numbers in the same order."""
    return [n for n in one if n != 1] == [n for n in two if n != 1]
