"""A scripted worker."""

from __future__ import annotations

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
