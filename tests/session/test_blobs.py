from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deskagent.errors import DeskagentError
from deskagent.session.blobs import Blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs", write=True)


@pytest.mark.parametrize("data", [b"", b"\r\n\0\xff", b"x" * 5_000_000])
def test_contents_come_back(blobs: Blobs, data: bytes) -> None:
    name = blobs.put(data)
    assert name == hashlib.sha256(data).hexdigest()
    assert blobs.put(data) == name
    assert blobs.get(name) == data


def test_damage_is_noticed_and_mended_by_the_next_put(blobs: Blobs, tmp_path: Path) -> None:
    name = blobs.put(b"precious")
    (tmp_path / "blobs" / name).write_bytes(b"precioux")
    with pytest.raises(DeskagentError, match="damaged"):
        blobs.get(name)
    blobs.put(b"precious")
    assert blobs.get(name) == b"precious"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_only_a_hash_is_a_name(blobs: Blobs, name: str) -> None:
    with pytest.raises(DeskagentError, match="no blob's name"):
        blobs.get(name)


def test_missing_contents_are_said(blobs: Blobs) -> None:
    with pytest.raises(DeskagentError, match="missing"):
        blobs.get("0" * 64)


def test_threads_may_put_the_same_contents(blobs: Blobs, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        names = set(pool.map(lambda n: blobs.put(b"abc" * (n % 2 + 1)), range(40)))
    assert names == {path.name for path in (tmp_path / "blobs").iterdir()}
