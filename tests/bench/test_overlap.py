"""Whether what is measured stands in what is learnt from, by pairs of lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

import overlap

from engine.train import shards
from engine.train.corpus.files import Document

PROGRAM = """def largest(items, low=0):
    best = None
    for item in items:
        if item < low:
            continue
        best = max(best, item)
    return best
"""
OTHER = """def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result
"""


def test_a_copy_is_found_in_whatever_layout_it_stands() -> None:
    copy = "import os\n\n\nclass A:\n" + "".join(f"    {line}\n\n    # so\n" for line in PROGRAM.splitlines())
    (found,) = overlap.compare([("largest", "g", PROGRAM)], [("b.py", OTHER), ("a.py", copy)])
    assert (found.shared, found.pairs, found.where) == (6, 6, "a.py")
    (none,) = overlap.compare([("largest", "g", PROGRAM)], [("b.py", OTHER)])
    assert none.share == 0


def test_a_corpus_with_a_program_in_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quix = tmp_path / "quix" / "python_programs"
    quix.mkdir(parents=True)
    (quix / "largest.py").write_text(PROGRAM)
    fixes = tmp_path / "fixes.jsonl"
    fix = {"path": "a.py", "repo": "some/where", "before": PROGRAM, "after": PROGRAM.replace("<", "<=")}
    fixes.write_text(json.dumps(fix) + "\n")
    for text, status in ((OTHER, 0), (PROGRAM, 1)):
        shards.write(tmp_path / "shards", "train", [Document("p", "p/a.py", "python", text)])
        shards.write(tmp_path / "shards", "held", [Document("q", "q/a.py", "python", OTHER)])
        words = [str(tmp_path / "shards"), "--quixbugs", str(tmp_path / "quix"), "--fixes", str(fixes)]
        monkeypatch.setattr(sys, "argv", ["overlap.py", *words])
        assert overlap.main() == status
        said = capsys.readouterr().out
        assert f"1 programs; {status} with over 50%" in said
        assert "some/where: " in said
    assert "largest: 6 of 6 pairs in train:p/p/a.py" in said
