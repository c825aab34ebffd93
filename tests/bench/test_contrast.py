"""Records of the choice among real candidates: what they hold, and going on after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("engine.train.bugs.put")

import contrast
from choices import SIZE

from engine.prompt.edits import apply
from engine.train.corpus.files import Document

CODE = """import os


def largest(items, low=0, high=10):
    best = None
    for item in items:
        if item < low or item > high:
            continue
        if best is None or item > best:
            best = item
    return best


def split(text, sign):
    parts = []
    for part in text.split(sign):
        if part.strip():
            parts.append(part.strip())
    return parts
"""
DOCUMENTS = [Document("p", "p/a.py", "python", CODE), Document("p", "p/b.md", "markdown", "# text\n" * 50)]


def read(out: Path) -> list[dict]:
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def test_a_record_is_a_choice_of_real_edits(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    at = contrast.go(DOCUMENTS, out, 3, 0)
    made = read(out)
    assert len(made) == at.made == 3
    for record in made:
        assert set(record) == {"path", "excerpt", "failure", "request", "candidates", "right"}
        assert record["path"] == "p/a.py" and record["excerpt"] not in CODE
        assert SIZE // 2 < len(record["candidates"]) <= SIZE
        assert len(set(record["candidates"])) == len(record["candidates"])
        assert record["candidates"][record["right"]]
        assert len({json.dumps(one) for one in made}) == 3


def test_the_right_one_mends_the_excerpt(tmp_path: Path) -> None:
    from engine.prompt.edits import parse

    out = tmp_path / "out.jsonl"
    contrast.go(DOCUMENTS, out, 3, 1)
    for record in read(out):
        mended = apply(parse(record["candidates"][record["right"]]), record["excerpt"])
        assert mended in CODE
        others = [text for i, text in enumerate(record["candidates"]) if i != record["right"]]
        assert all(apply(parse(text), record["excerpt"]) != mended for text in others)


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    contrast.go(DOCUMENTS, whole, 4, 2)
    contrast.go(DOCUMENTS, parts, 2, 2)
    with parts.open("a", encoding="utf-8") as file:
        file.write('{"path": "half a li')  # killed while it wrote
    contrast.go(DOCUMENTS, parts, 4, 2)
    assert parts.read_bytes() == whole.read_bytes()
    with pytest.raises(SystemExit, match="seed 2"):
        contrast.go(DOCUMENTS, parts, 5, 3)
