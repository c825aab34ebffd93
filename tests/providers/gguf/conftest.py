"""A scripted worker, and a GGUF file that says something of itself."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deskagent.providers.gguf.child import Child

_WORKER = """
import json, os, sys, time
def say(**message): print(json.dumps(message), flush=True)
def asked(): return json.loads(sys.stdin.readline() or "{}")
"""


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Callable[..., Child]]:
    """A child whose worker is a script; `say` and `asked` are there."""
    made: list[Child] = []

    def make(script: str, **more: float) -> Child:
        file = tmp_path / f"worker{len(made)}.py"
        file.write_text(_WORKER + script)
        made.append(Child([sys.executable, str(file)], **more))
        return made[-1]

    yield make
    for child in made:
        child.close()


@pytest.fixture
def gguf(tmp_path: Path) -> Callable[..., Path]:
    """A file with these keys and no tensors."""

    def text(value: str) -> bytes:
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw

    def value(given: object) -> bytes:
        if isinstance(given, str):
            return struct.pack("<I", 8) + text(given)
        if isinstance(given, list):
            return struct.pack("<IIQ", 9, 8, len(given)) + b"".join(map(text, given))
        return struct.pack("<II", 4, given)

    def make(name: str = "m.gguf", **keys: object) -> Path:
        usual = {
            "general.architecture": "qwen2",
            "qwen2.context_length": 8192,
            "tokenizer.ggml.tokens": ["a", "bc"],
        }
        found = {**usual, **keys}
        body = b"".join(text(key) + value(each) for key, each in found.items())
        file = tmp_path / name
        file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(found)) + body)
        return file

    return make
