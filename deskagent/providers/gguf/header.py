"""What a GGUF file says of itself, read without llama.cpp: https://github.com/ggml-org/ggml, docs/gguf.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from deskagent.errors import UsageError

_MOST_KEYS, _MOST_TEXT = 100_000, 64 << 20
_STRING, _ARRAY = 8, 9
_PLAIN = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
"""Kinds of values, as `struct` reads them."""


@dataclass(frozen=True, slots=True)
class Header:
    """values: of the file's keys, without lists."""

    values: dict[str, Any]

    @property
    def architecture(self) -> str:
        return str(self.values.get("general.architecture", ""))

    @property
    def context(self) -> int:
        """Tokens that it was trained with; 0 where it doesn't say."""
        found = self.values.get(f"{self.architecture}.context_length")
        return found if isinstance(found, int) else 0

    @property
    def template(self) -> str:
        return str(self.values.get("tokenizer.chat_template", ""))

    @property
    def licence(self) -> str:
        return str(self.values.get("general.license", ""))


def header(path: Path) -> Header:
    """Errors: UsageError for a file that can't be read, is none, or ends too early."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise UsageError(
                    f"{path} is no GGUF file.",
                    hint="Name a file that was made for llama.cpp, ending in .gguf.",
                )
            version, _, count = _unpack(file, "<I"), _unpack(file, "<Q"), _unpack(file, "<Q")
            if version not in (2, 3) or count > _MOST_KEYS:
                raise UsageError(f"{path} is a GGUF file of version {version}, which can't be read.")
            values = {}
            for _ in range(count):
                key, value = _text(file), _value(file, _unpack(file, "<I"))
                if value is not None:
                    values[key] = value
            return Header(values)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}.") from error
    except (struct.error, ValueError, KeyError) as error:
        raise UsageError(
            f"{path} is damaged, or isn't whole: its header can't be read.", hint="Get it again."
        ) from error


def _unpack(file: BinaryIO, kind: str) -> Any:
    return struct.unpack(kind, file.read(struct.calcsize(kind)))[0]


def _text(file: BinaryIO) -> str:
    size = _unpack(file, "<Q")
    if size > _MOST_TEXT or len(found := file.read(size)) != size:
        raise ValueError("a text that ends too early")
    return found.decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    """None for a list, which is skipped."""
    if kind == _STRING:
        return _text(file)
    if kind != _ARRAY:
        return _unpack(file, _PLAIN[kind])
    inner, count = _unpack(file, "<I"), _unpack(file, "<Q")
    if inner in _PLAIN:
        file.seek(struct.calcsize(_PLAIN[inner]) * count, 1)
        return None
    for _ in range(count):
        if inner == _STRING:
            file.seek(_unpack(file, "<Q"), 1)
        else:
            _value(file, inner)
    return None
