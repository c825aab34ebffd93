"""Reads a checkpoint from end to end: hashes, numbers that are none, scales out of range. Little memory at any size."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import CheckpointError
from engine.weights.checkpoint import FLOATS, LARGEST_SCALE, Checkpoint
from engine.weights.files import inside
from engine.weights.header import Entry
from engine.weights.quantize import SUMS
from engine.weights.writer import CHUNK, stored

_SUM = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_LARGEST_SUMS = 16 << 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """One file. expected: its sha256 by SHA256SUMS or a hub's cache; '' where neither knows it. problems: what is wrong
    with it, in words."""

    file: str
    sha256: str
    expected: str
    problems: tuple[str, ...]


def verify(checkpoint: Checkpoint, report: Callable[[Verdict], None] | None = None) -> list[Verdict]:
    """Every byte is read once. `report` is called after each file. Errors: CheckpointError for a tensor that is missing
    or of the wrong shape, before anything is read."""
    checkpoint.check()
    expected = _expected(checkpoint.folder)
    verdicts = []
    for file in checkpoint.files:
        verdict = _file(checkpoint, file, expected.get(file.name) or _blob(file))
        verdicts.append(verdict)
        if report is not None:
            report(verdict)
    return verdicts


def _file(checkpoint: Checkpoint, file: Path, expected: str) -> Verdict:
    tensors = sorted(
        (
            (entry.start, entry.end, name, entry)
            for name, entry in checkpoint.entries.items()
            if entry.file == file
        ),
        key=lambda tensor: tensor[:3],
    )
    digest, problems, at = hashlib.sha256(), [], 0
    for start, end, name, entry in tensors:
        _gap(digest.update, file, at, start)
        wrong = 0
        for raw in stored(entry, CHUNK):
            digest.update(raw.numpy().data)
            wrong += _wrong(name, entry, raw)
        if wrong:
            what = f"scales above {LARGEST_SCALE}" if _is_scale(name) else "values that are no finite number"
            problems.append(f"tensor {name}: {wrong} {what}")
        at = end
    _gap(digest.update, file, at, file.stat().st_size)
    found = digest.hexdigest()
    if expected and found != expected:
        problems.insert(0, f"its sha256 is {found}, it should be {expected}: fetch it again")
    return Verdict(file.name, found, expected, tuple(problems))


def _wrong(name: str, entry: Entry, raw: Tensor) -> int:
    if _is_scale(name):
        return int((raw > LARGEST_SCALE).sum())
    if entry.dtype in FLOATS:
        return int((~torch.isfinite(raw.view(entry.dtype))).sum())
    return 0


def _is_scale(name: str) -> bool:
    return name.endswith("weight_scale")


def _gap(update: Callable[[bytes | memoryview], None], file: Path, start: int, end: int) -> None:
    """The bytes between tensors: the header, and what is behind the last."""
    if end > start:
        for raw in stored(Entry(file, torch.uint8, (end - start,), start, end)):
            update(raw.numpy().data)


def _expected(folder: Path) -> dict[str, str]:
    if not (folder / SUMS).exists():
        return {}
    path = inside(folder, SUMS)
    if path.stat().st_size > _LARGEST_SUMS:
        raise CheckpointError(f"{path}: over {_LARGEST_SUMS} bytes")
    return dict(_sums(path.read_text("utf-8", "replace")))


def _sums(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if found := _SUM.fullmatch(line):
            yield found[2], found[1]


def _blob(file: Path) -> str:
    """A hub's cache names a large file by its sha256."""
    name = file.resolve().name
    return name if file.is_symlink() and re.fullmatch(r"[0-9a-f]{64}", name) else ""
