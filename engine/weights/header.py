"""What a safetensors file says of itself: names, types, shapes and places, checked against its size.

Format 1: the header's length (u64, little-endian), the header (JSON), the tensors one after the other.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from engine.errors import CheckpointError
from engine.weights import files

LARGEST_HEADER = 100 << 20
"""Bytes; the format's own bound."""
_LARGEST_RANK = 8
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a tensor lies: bytes start … end of `file`."""

    file: Path
    dtype: torch.dtype
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def bytes(self) -> int:
        return self.end - self.start


def read_header(file: Path) -> dict[str, Entry]:
    """A file's tensors by name. Errors: CheckpointError for a header that is damaged, hostile or untrue: too long, not
    JSON, a name twice, an unknown type, a shape that isn't its bytes, tensors that overlap or reach past the end."""
    try:
        size = file.stat().st_size
        with file.open("rb") as handle:
            start = handle.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not 2 <= length <= min(LARGEST_HEADER, size - 8):
                raise CheckpointError(
                    f"{file}: header of {length} bytes in a file of {size}: cut short, damaged or no safetensors"
                )
            raw = handle.read(length)
    except OSError as error:
        raise CheckpointError(f"{file}: {error.strerror}") from error
    listed = files.parse(raw, file)
    if not isinstance(listed, dict):
        raise CheckpointError(f"{file}: damaged header: no object")
    listed.pop("__metadata__", None)
    found = {name: _entry(file, name, 8 + length, facts) for name, facts in listed.items()}
    end = max((entry.end for entry in found.values()), default=0)
    if end > size:
        raise CheckpointError(f"{file}: {size} bytes, its tensors need {end}: cut short, fetch it again")
    ordered = sorted(found.values(), key=lambda entry: (entry.start, entry.end))
    for one, two in pairwise(ordered):
        if two.start < one.end:
            raise CheckpointError(f"{file}: two tensors overlap at byte {two.start}: damaged")
    return found


def _entry(file: Path, name: str, base: int, facts: Any) -> Entry:
    if not isinstance(facts, dict) or not {"dtype", "shape", "data_offsets"} <= facts.keys():
        raise CheckpointError(f"{file}: tensor {name}: no dtype, shape and data_offsets")
    shape, place = facts["shape"], facts["data_offsets"]
    numbers = isinstance(shape, list) and isinstance(place, list) and all(_whole(n) for n in (*shape, *place))
    if not numbers or len(place) != 2 or len(shape) > _LARGEST_RANK:
        raise CheckpointError(f"{file}: tensor {name}: its shape or place is no list of whole numbers")
    dtype = DTYPES.get(facts["dtype"]) if isinstance(facts["dtype"], str) else None
    if dtype is None:
        raise CheckpointError(f"{file}: tensor {name}: dtype {facts['dtype']!r} is not known")
    count = 1
    for n in shape:
        count *= n
    if count * dtype.itemsize != place[1] - place[0]:
        raise CheckpointError(
            f"{file}: tensor {name}: {shape} of {facts['dtype']} can't be {place[1] - place[0]} bytes"
        )
    return Entry(file, dtype, tuple(shape), base + place[0], base + place[1])


def _whole(number: object) -> bool:
    return type(number) is int and 0 <= number < 1 << 62
