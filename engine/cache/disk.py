"""The prefix cache's files: named by a hash of what they hold, checked when read, dropped when damaged.

A file: magic, u32 length and BLAKE2b-128 of the header, header (JSON), the tensors' bytes one after the other.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import torch
from torch import Tensor

MAGIC = b"prefix01"
SUFFIX = ".prefix"
_START = struct.Struct("<8sI16s")
_DTYPES = {str(dtype): dtype for dtype in (torch.float32, torch.bfloat16, torch.float16)}
_LONGEST_HEADER = 1 << 28


@dataclass(frozen=True, slots=True)
class Header:
    """name: of the file. parent: the name of the file that holds what comes before, '' for none. tokens: those of this
    part, `length` with all before. shapes: (dtype, shape) of each tensor. size: bytes of the file. used: time of
    last use."""

    name: str
    parent: str
    tokens: list[int]
    length: int
    shapes: list[tuple[str, tuple[int, ...]]]
    digest: str
    size: int
    used: float


class Folder:
    """The files of one model in one folder; others' are left alone. What can't be read is deleted and forgotten."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        """Makes the folder, for its owner alone. Errors: OSError."""
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path, self.fingerprint = path, fingerprint

    def name(self, parent: str, tokens: Sequence[int]) -> str:
        said = json.dumps([self.fingerprint, parent, list(tokens)], separators=(",", ":"))
        return blake2b(said.encode(), digest_size=20).hexdigest()

    def headers(self) -> list[Header]:
        """Of all whole files, parents before children; leftovers of interrupted writes are deleted."""
        for leftover in self.path.glob(f"*{SUFFIX}.tmp"):
            self._delete(leftover)
        return sorted(self._headers(), key=lambda header: header.length)

    def write(self, parent: str, tokens: Sequence[int], length: int, tensors: Sequence[Tensor]) -> Header:
        """A new file, whole or not at all. Errors: OSError, as for a full disk."""
        name = self.name(parent, tokens)
        parts = [to_bytes(tensor) for tensor in tensors]
        digest = blake2b(digest_size=16)
        for part in parts:
            digest.update(part)
        shapes = [(str(tensor.dtype), tuple(tensor.shape)) for tensor in tensors]
        header = json.dumps(
            {
                "fingerprint": self.fingerprint, "parent": parent, "tokens": list(tokens), "length": length,
                "shapes": shapes, "digest": digest.hexdigest(),
            },
            separators=(",", ":"),
        ).encode()  # fmt: skip
        target = self.path / f"{name}{SUFFIX}"
        unfinished = target.with_suffix(f"{SUFFIX}.tmp")
        try:
            with unfinished.open("wb") as file:
                unfinished.chmod(0o600)
                file.write(_START.pack(MAGIC, len(header), blake2b(header, digest_size=16).digest()) + header)
                for part in parts:
                    file.write(part)
            unfinished.replace(target)
        except BaseException:
            self._delete(unfinished)
            raise
        stat = target.stat()
        return Header(
            name, parent, list(tokens), length, shapes, digest.hexdigest(), stat.st_size, stat.st_mtime
        )

    def read(self, header: Header) -> list[Tensor] | None:
        """A file's tensors; None for a file that is gone or damaged, which is deleted."""
        path = self.path / f"{header.name}{SUFFIX}"
        tensors = []
        digest = blake2b(digest_size=16)
        try:
            with path.open("rb") as file:
                _, length, _ = _START.unpack(file.read(_START.size))
                file.seek(_START.size + length)
                for dtype, shape in header.shapes:
                    tensor = torch.empty(shape, dtype=_DTYPES[dtype])
                    data = bytearray(file.read(tensor.numel() * tensor.element_size()))
                    digest.update(data)
                    if tensor.numel():
                        tensor = torch.frombuffer(data, dtype=tensor.dtype).reshape(shape)
                    tensors.append(tensor)
        except (OSError, ValueError, struct.error, RuntimeError):
            self.delete(header)
            return None
        if digest.hexdigest() != header.digest:
            self.delete(header)
            return None
        with suppress(OSError):  # the time of use only orders what goes first
            os.utime(path)
        return tensors

    def delete(self, header: Header) -> None:
        self._delete(self.path / f"{header.name}{SUFFIX}")

    def _headers(self) -> Iterator[Header]:
        for path in self.path.glob(f"*{SUFFIX}"):
            try:
                header = self._header(path)
            except (OSError, ValueError, KeyError, TypeError, struct.error):
                self._delete(path)
                continue
            if header is not None:
                yield header

    def _header(self, path: Path) -> Header | None:
        """None for another model's file. Errors: ValueError and kin for a damaged one."""
        with path.open("rb") as file:
            magic, length, digest = _START.unpack(file.read(_START.size))
            if magic != MAGIC or length > _LONGEST_HEADER:
                raise ValueError("no prefix file")
            text = file.read(length)
            stat = os.fstat(file.fileno())
        if blake2b(text, digest_size=16).digest() != digest:
            raise ValueError("damaged header")
        said = json.loads(text)
        if said["fingerprint"] != self.fingerprint:
            return None
        shapes = [(dtype, tuple(shape)) for dtype, shape in said["shapes"]]
        held = sum(torch.empty(shape, dtype=_DTYPES[dtype], device="meta").nbytes for dtype, shape in shapes)
        if stat.st_size != _START.size + length + held:
            raise ValueError("cut off")
        if path.name != self.name(said["parent"], said["tokens"]) + SUFFIX:
            raise ValueError("not its name")
        return Header(
            path.name.removesuffix(SUFFIX), said["parent"], said["tokens"], said["length"], shapes, said["digest"],
            stat.st_size, stat.st_mtime,
        )  # fmt: skip

    def _delete(self, path: Path) -> None:
        with suppress(OSError):  # nothing is lost but the room
            path.unlink()


def to_bytes(tensor: Tensor) -> bytes:
    """A tensor's values as they lie in memory."""
    flat = tensor.detach().cpu().contiguous()
    return ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size()) if flat.numel() else b""
