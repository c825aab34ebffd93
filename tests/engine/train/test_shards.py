from __future__ import annotations

import pytest

from engine.errors import CheckpointError
from engine.train import shards
from engine.train.corpus.files import Document

DOCUMENTS = [
    Document("a", "a/one.py", "python", "x = 'é'\n"),
    Document("a", "a/two.py", "python", "\ny = 2"),
    Document("b", "b/lib.js", "javascript", "let z\n"),
]


def test_documents_come_back(tmp_path) -> None:
    shards.write(tmp_path, "train", DOCUMENTS)
    shards.write(tmp_path, "held", DOCUMENTS[:1])
    assert shards.read(tmp_path, "train") == DOCUMENTS
    assert shards.read(tmp_path, "held") == DOCUMENTS[:1]


def test_what_is_too_much_for_one_shard_goes_into_several(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(shards, "SIZE", 10)
    shards.write(tmp_path, "train", DOCUMENTS)
    assert len(list(tmp_path.iterdir())) == 3
    assert shards.read(tmp_path, "train") == DOCUMENTS


def test_old_shards_are_replaced(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(shards, "SIZE", 10)
    shards.write(tmp_path, "train", DOCUMENTS)
    shards.write(tmp_path, "train", DOCUMENTS[:1])
    assert shards.read(tmp_path, "train") == DOCUMENTS[:1]


def test_damage_is_told(tmp_path) -> None:
    shards.write(tmp_path, "train", DOCUMENTS)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CheckpointError, match="damaged"):
        shards.read(tmp_path, "train")


def test_no_shards_are_an_error(tmp_path) -> None:
    with pytest.raises(CheckpointError, match="no train shards"):
        shards.read(tmp_path, "train")
