"""A checkpoint on disk, and folders whose names are short enough for sockets."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="eng"))
    yield made / "run"
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def checkpoint(tiny, tmp_path_factory) -> Path:
    from engine.weights.random import RandomSource
    from engine.weights.save import save

    made = tmp_path_factory.mktemp("checkpoint")
    save(tiny.config, RandomSource(tiny.config, mxfp4=True), made)
    return made
