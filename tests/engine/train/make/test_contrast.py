from __future__ import annotations

import json
import lzma
from random import Random

import pytest

from engine.errors import CheckpointError
from engine.prompt.segments import text_of
from engine.train.corpus.files import Document
from engine.train.make import contrast

ANY = Document("p", "p/a.py", "python", "")


def record(number: int, right: int = 1) -> dict:
    return {
        "path": f"package{number}/a.py", "excerpt": "a < b", "failure": "assert 1 == 2", "request": "",
        "candidates": ["1\n-<\n+>\n", "1\n-<\n+<=\n"], "right": right,
    }  # fmt: skip


def write(folder, records) -> None:
    with lzma.open(folder / contrast.FILE, "wt") as file:
        file.writelines(json.dumps(each) + "\n" for each in records)


def test_the_right_candidate_is_learnt(tmp_path) -> None:
    write(tmp_path, [record(n) for n in range(40)])
    example = contrast.contrast(contrast.read(tmp_path, "train"), ANY, Random(0)) or []
    assert "1|a < b" in text_of(piece.segment for piece in example if not piece.learn)
    assert "1\n-<\n+<=\n" in text_of(piece.segment for piece in example if piece.learn)


def test_each_record_is_in_one_half(tmp_path) -> None:
    write(tmp_path, [record(n) for n in range(200)])
    train, held = (contrast.read(tmp_path, half) for half in ("train", "held"))
    assert len(train) + len(held) == 200 and 1 <= len(held) < 40
    assert not {each.path for each in train} & {each.path for each in held}


def test_no_file_is_no_records(tmp_path) -> None:
    assert contrast.read(tmp_path, "train") == []
    assert contrast.contrast([], ANY, Random(0)) is None


@pytest.mark.parametrize("broken", [record(1, right=2), {"path": "a"}])
def test_damage_is_told(tmp_path, broken) -> None:
    write(tmp_path, [broken])
    with pytest.raises(CheckpointError, match="no records of choices"):
        contrast.read(tmp_path, "train")
