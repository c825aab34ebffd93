"""Turns a checkpoint's routed experts into MXFP4, or back into BF16: file by file, in little memory, resumable.

A file of the result appears under its name when it is whole, and is noted in a progress file then; config.json comes
last. So what a killed run leaves is no checkpoint yet, and the same command goes on behind the last whole file.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import CapacityError, CheckpointError, ConfigError
from engine.weights import arrange
from engine.weights.checkpoint import Checkpoint
from engine.weights.config_json import LARGEST, MXFP4_FORMAT
from engine.weights.files import INDEX, inside, read_json
from engine.weights.header import Entry
from engine.weights.mxfp4 import pack
from engine.weights.writer import Piece, stored, write_json, write_shard, write_whole
from kernels.reference.mxfp4 import BLOCK, unpack

PROGRESS = ".convert.json"
SUMS = "SHA256SUMS"
_VALUES = 1 << 20
"""Numbers of an expert that are converted at a time."""
_BESIDE = (".json", ".model", ".tiktoken", ".txt", ".md", ".jinja")
_LARGEST_BESIDE = 256 << 20
_ROOM = 64 << 20
"""Bytes to leave free on the disk."""
DESCRIPTION: dict[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": MXFP4_FORMAT,
    "quantization_status": "compressed",
    "config_groups": {
        "group_0": {
            "targets": [r"re:.*block_sparse_moe\.experts\.\d+\.w[123]$"],
            "weights": {
                "num_bits": 4, "type": "float", "strategy": "group", "group_size": BLOCK, "symmetric": True,
                "dynamic": False, "scale_dtype": "torch.uint8", "zp_dtype": "torch.uint8",
            },
            "input_activations": None,
            "output_activations": None,
            "format": MXFP4_FORMAT,
        }
    },
    "ignore": ["lm_head"],
}  # fmt: skip
"""config.json's `quantization_config`, as compressed-tensors reads it: the routed experts alone are packed."""

Report = Callable[[str, int, int], None]
"""Called after each file with its name, the bytes of the result that are on the disk, and those of the whole."""


def quantize(source: Path, target: Path, report: Report | None = None) -> None:
    """Writes `source` with its routed experts in MXFP4 into the folder `target`. The rest is copied as it is.

    Errors: CheckpointError for a damaged or other source or an occupied target, ConfigError for one that is MXFP4
    already, CapacityError before anything is written where the disk is too small.
    """
    opened = Checkpoint.open(source)
    if any(name.endswith("_packed") for name in opened.entries):
        raise ConfigError(f"{source}: the experts are MXFP4 already")
    _convert(opened, target, "mxfp4", _packed, report)


def dequantize(source: Path, target: Path, report: Report | None = None) -> None:
    """Writes `source`, whose experts are MXFP4, with plain BF16 ones into `target`. Errors: as `quantize`."""
    opened = Checkpoint.open(source)
    if not any(name.endswith("_packed") for name in opened.entries):
        raise ConfigError(f"{source}: there is no MXFP4 in it")
    _convert(opened, target, "bf16", _widened, report)


def _convert(source: Checkpoint, target: Path, what: str, experts: _Converter, report: Report | None) -> None:
    files = arrange.arrange(_pieces(source, experts))
    with _claimed(target) as progress:
        progress.take_up({"made": what, "source": _identity(source)})
        sizes = {file: sum(piece.bytes for piece in pieces) for file, pieces in files.items()}
        _room(target, sum(size for file, size in sizes.items() if file not in progress.done))
        progress.save()
        for file, pieces in files.items():
            if file not in progress.done:
                progress.note(file, write_shard(target / file, pieces))
            if report is not None:
                report(file, sum(sizes[done] for done in progress.done), sum(sizes.values()))
        _beside(source.folder, target)
        write_json(target / INDEX, arrange.index(files))
        sums = "".join(f"{digest}  {file}\n" for file, digest in sorted(progress.done.items()))
        write_whole(target / SUMS, [sums.encode()])
        config = read_json(source.folder, "config.json", LARGEST)
        write_json(target / "config.json", _described(config, what))
        progress.end()


_Converter = Callable[[Checkpoint, str, Entry], Iterable[tuple[str, Piece]]]


def _pieces(source: Checkpoint, experts: _Converter) -> Iterator[tuple[str, Piece]]:
    """(public name, piece under the name that the source gives it)."""
    for name, entry in source.entries.items():
        written = source.names[name]
        if arrange.EXPERT.fullmatch(name):
            for made, piece in experts(source, name, entry):
                yield made, Piece(written.removesuffix(name) + made, piece.dtype, piece.shape, piece.chunks)
        else:
            yield name, Piece(written, entry.dtype, entry.shape, partial(stored, entry))


def _packed(source: Checkpoint, name: str, entry: Entry) -> Iterator[tuple[str, Piece]]:
    """Scales are computed with the packed numbers and kept until their turn comes: they are a sixteenth of them."""
    out, width = entry.shape
    scales: list[Tensor] = []

    def numbers() -> Iterator[Tensor]:
        scales.clear()
        for rows in _rows(entry, _VALUES // width):
            try:
                packed, scale = pack(rows)
            except ValueError as error:
                raise CheckpointError(f"{entry.file}: tensor {name}: {error}") from error
            scales.append(scale)
            yield packed

    def kept() -> Iterator[Tensor]:
        while scales:
            yield scales.pop(0)

    yield f"{name}_packed", Piece("", torch.uint8, (out, width // 2), numbers)
    yield f"{name}_scale", Piece("", torch.uint8, (out, width // BLOCK), kept)


def _widened(source: Checkpoint, name: str, entry: Entry) -> Iterator[tuple[str, Piece]]:
    if not name.endswith("_packed"):
        return
    plain = name.removesuffix("_packed")
    scales = source.entry(f"{plain}_scale")
    out, half = entry.shape

    def numbers() -> Iterator[Tensor]:
        step = _VALUES // (2 * half)
        for packed, scale in zip(_rows(entry, step), _rows(scales, step), strict=True):
            yield unpack(packed, scale, torch.bfloat16)

    yield plain, Piece("", torch.bfloat16, (out, half * 2), numbers)


def _rows(entry: Entry, step: int) -> Iterator[Tensor]:
    """A matrix, `step` rows at a time, or one."""
    width = entry.shape[1]
    for raw in stored(entry, max(1, step) * width * entry.dtype.itemsize):
        yield raw.view(entry.dtype).reshape(-1, width)


def _described(config: Any, what: str) -> Any:
    text = config.get("text_config")
    for place in (config, text if isinstance(text, dict) else {}):
        place.pop("quantization_config", None)
    if what == "mxfp4":
        config["quantization_config"] = DESCRIPTION
    return config


def _beside(source: Path, target: Path) -> None:
    """Copies the tokenizer, the card and the licence."""
    for path in sorted(source.iterdir()):
        known = path.suffix in _BESIDE or path.name.upper().startswith(("LICENSE", "LICENCE", "NOTICE"))
        if not known or path.name in ("config.json", INDEX) or not path.is_file():
            continue
        found = inside(source, path.name)
        if found.stat().st_size <= _LARGEST_BESIDE:
            write_whole(target / path.name, [found.read_bytes()])


def _identity(source: Checkpoint) -> str:
    """Changes when the source does."""
    digest = hashlib.sha256((source.folder / "config.json").read_bytes())
    for file in source.files:
        facts = file.stat()
        digest.update(f"{file.name} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _room(target: Path, needed: int) -> None:
    free = shutil.disk_usage(target).free
    if free < needed + _ROOM:
        raise CapacityError(
            f"{target}: {needed / 1e9:.1f} GB are to be written, {free / 1e9:.1f} GB are free; nothing was written"
        )


@dataclass(slots=True)
class _Progress:
    """Which files of the result are whole, with their sha256."""

    path: Path
    about: dict[str, str] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)

    def take_up(self, about: dict[str, str]) -> None:
        """Errors: CheckpointError for a folder that holds something else."""
        found = self._read()
        if found and found.get("about") != about:
            raise CheckpointError(
                f"{self.path.parent}: holds part of another conversion; empty it or name another"
            )
        for left in self.path.parent.glob(".*.part"):
            left.unlink()
        if not found and any(self.path.parent.iterdir()):
            raise CheckpointError(f"{self.path.parent}: is not empty; name a new folder")
        self.about, self.done = about, dict(found.get("done", {}))

    def note(self, file: str, digest: str) -> None:
        self.done[file] = digest
        self.save()

    def end(self) -> None:
        self.path.unlink()

    def _read(self) -> dict[str, Any]:
        if not self.path.exists():
            return {}
        found = read_json(self.path.parent, self.path.name, LARGEST)
        if not isinstance(found, dict) or not isinstance(found.get("done"), dict):
            raise CheckpointError(f"{self.path}: damaged; empty the folder and start again")
        return found

    def save(self) -> None:
        write_json(self.path, {"about": self.about, "done": self.done})


@contextmanager
def _claimed(target: Path) -> Iterator[_Progress]:
    """The folder, made if need be, for one process at a time."""
    target.mkdir(parents=True, exist_ok=True)
    fd = os.open(target, os.O_RDONLY)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CheckpointError(f"{target}: another process is writing it") from error
        yield _Progress(target / PROGRESS)
    finally:
        os.close(fd)
