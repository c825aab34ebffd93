"""Writes a safetensors file in bounded memory: the header first, then the tensors piece by piece.

A file appears under its name only when it is whole and on the disk.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import CapacityError, CheckpointError
from engine.weights.header import NAMES, Entry

CHUNK = 8 << 20
"""Bytes that are read or written at a time."""
_SMALL = 256 << 10
_ALIGN = 64
"""The data of a file start at a multiple of it: a cache line, so that kernels needn't copy."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A tensor to write: `chunks` gives its numbers in order, as tensors of any size."""

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    chunks: Callable[[], Iterable[Tensor]]

    @property
    def bytes(self) -> int:
        count = self.dtype.itemsize
        for n in self.shape:
            count *= n
        return count


def write_shard(path: Path, pieces: list[Piece]) -> str:
    """Writes `pieces` in their order; gives the file's sha256. Errors: CapacityError for a full disk."""
    digest = hashlib.sha256()

    def produce() -> Iterator[bytes | memoryview]:
        yield _header(pieces)
        for piece in pieces:
            written = 0
            for chunk in piece.chunks():
                raw = chunk.contiguous().flatten().view(torch.uint8).numpy().data
                written += len(raw)
                yield raw
            if written != piece.bytes:
                raise CheckpointError(
                    f"{path}: tensor {piece.name}: {written} bytes instead of {piece.bytes}"
                )

    def hashed() -> Iterator[bytes | memoryview]:
        for raw in produce():
            digest.update(raw)
            yield raw

    write_whole(path, hashed())
    return digest.hexdigest()


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Writes a file that is there whole or not at all, whenever the machine stops. Errors: CapacityError."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb", buffering=0) as file:
            for raw in _gathered(parts):
                _write_all(file.fileno(), raw)
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        part.unlink(missing_ok=True)
        raise CapacityError(f"{path}: {error.strerror}; make room and run the same command again") from error


def write_json(path: Path, value: Any) -> None:
    write_whole(path, [json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"])


def sync_folder(folder: Path) -> None:
    """What was renamed in `folder` stays renamed after a power cut."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def stored(entry: Entry, chunk: int = CHUNK) -> Iterator[Tensor]:
    """A tensor's bytes [n] u8 as they lie in its file, at most `chunk` at a time: read, not mapped, so that a big
    one takes no more memory than a small one. Errors: CheckpointError for a file that was cut short since."""
    with entry.file.open("rb", buffering=0) as file:
        file.seek(entry.start)
        left = entry.bytes
        while left:
            buffer = bytearray(min(chunk, left))
            got = 0
            with memoryview(buffer) as view:
                while got < len(buffer):
                    more = file.readinto(view[got:])
                    if not more:
                        raise CheckpointError(f"{entry.file}: ends before its tensors do; fetch it again")
                    got += more
            left -= got
            yield torch.frombuffer(buffer, dtype=torch.uint8)


def _header(pieces: list[Piece]) -> bytes:
    listed: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for piece in pieces:
        listed[piece.name] = {
            "dtype": NAMES[piece.dtype],
            "shape": list(piece.shape),
            "data_offsets": [at, at + piece.bytes],
        }
        at += piece.bytes
    raw = json.dumps(listed, separators=(",", ":")).encode()
    raw += b" " * (-(len(raw) + 8) % _ALIGN)
    return len(raw).to_bytes(8, "little") + raw


def _gathered(parts: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Small parts together, large ones as they are."""
    small = bytearray()
    for raw in parts:
        if len(raw) + len(small) <= _SMALL:
            small += raw
            continue
        yield bytes(small)
        small.clear()
        yield raw
    yield bytes(small)


def _write_all(fd: int, raw: bytes | memoryview) -> None:
    view = memoryview(raw)
    while view:
        view = view[os.write(fd, view) :]
