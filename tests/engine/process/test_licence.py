"""A checkpoint under a licence of its own: its process answers nobody who didn't agree, and says why."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from engine.errors import LicenceError
from engine.process import wire
from engine.process.client import Client
from engine.weights.card import fingerprint, licence_of


@pytest.fixture
def licensed(checkpoint: Path, tmp_path: Path) -> Path:
    made = tmp_path / "licensed"
    shutil.copytree(checkpoint, made)
    (made / "README.md").write_text("---\nlicense: other\nlicense_name: its-own\n---\n")
    return made


def test_nothing_is_answered_before_somebody_agreed(folder: Path, licensed: Path) -> None:
    command = [
        sys.executable, "-m", "engine.process", str(folder), str(licensed), "--kernels", "reference", "--pages", "16",
        "--idle", "2",
    ]  # fmt: skip
    question = wire.Score([1, 2], [[3]])
    with pytest.raises(LicenceError, match="its-own, which has to be agreed to"):
        Client(folder, command).score(question)
    licence = licence_of(licensed)
    assert licence is not None
    # the process that refused may be there still; the answer comes from one that knows of the agreement
    other = folder.with_name("agreed")
    command[3] = str(other)
    agreed = Client(other, [*command, "--agreed", fingerprint(licensed, licence)])
    assert len(agreed.score(question)[0]) == 1
