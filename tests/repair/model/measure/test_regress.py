"""Two checkpoints side by side, by the command that a person uses, on tiny random weights."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deskagent.cli.model import model
from deskagent.errors import UsageError
from deskagent.repair.model.measure.regress import Figure, compare

pytest.importorskip("torch")
pytest.importorskip("tokenizers")

CODE = "def count(items, low, high):\n    return len([i for i in items if low <= i < high and i not in (3, 4)])\n"


@pytest.fixture
def suites(tmp_path: Path) -> list[str]:
    fixes = tmp_path / "fixes.jsonl"
    fix = {"path": "a.py", "before": CODE, "after": CODE.replace("< high", "<= high"), "failure": "2 != 3"}
    fixes.write_text(json.dumps(fix) + "\n")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("Some words to be read. " * 20)
    return ["--suite", str(fixes), "--suite", str(tmp_path / "texts")]


@pytest.fixture
def other(checkpoint: Path, tmp_path: Path) -> Path:
    """Of the same shape, with other weights."""
    from engine.weights.checkpoint import Checkpoint
    from engine.weights.random import RandomSource
    from engine.weights.save import save

    made = tmp_path / "other"
    save(Checkpoint.open(checkpoint).config, RandomSource(Checkpoint.open(checkpoint).config, seed=5), made)
    shutil.copy(checkpoint / "tokenizer.json", made)
    return made


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(model, ["regress", *map(str, words)])


def test_the_better_and_the_worse(checkpoint: Path, other: Path, suites: list[str], run_dir: Path) -> None:
    forth = call(checkpoint, other, *suites, "--tolerance", "0", "--json")
    back = call(other, checkpoint, *suites, "--tolerance", "0", "--json")
    assert {forth.exit_code, back.exit_code} <= {0, 1} and 1 in (forth.exit_code, back.exit_code)
    one, two = json.loads(forth.stdout), json.loads(back.stdout)
    assert one["worse"] == (forth.exit_code == 1)
    figures = {(row["suite"], row["figure"]): row for row in one["figures"]}
    assert figures["texts", "text, bits a byte"]["cases"] == 1
    assert figures["fixes", "right edit, nats a token"]["first"] > 0
    assert figures["fixes", "model, reciprocal rank"]["cases"] == 1
    for row, turned in zip(one["figures"], two["figures"], strict=True):
        assert (row["first"], row["second"]) == (turned["second"], turned["first"])
    same = call(checkpoint, checkpoint, *suites)
    assert same.exit_code == 0, same.output
    assert "B against A: no figure is worse by more than 0.02" in same.stdout
    assert "text, bits a byte" in same.stdout


def test_what_can_not_be_asked_is_no_regression(
    checkpoint: Path, tmp_path: Path, suites: list[str], run_dir: Path
) -> None:
    (tmp_path / "empty").mkdir()
    result = call(checkpoint, tmp_path / "empty", *suites)
    assert isinstance(result.exception, UsageError)
    assert "empty" in str(result.exception)


def test_a_loss_may_grow_by_a_share_and_a_rank_fall_by_a_number() -> None:
    def rows(loss: bool, first: list[float], second: list[float], tolerance: float = 0.02) -> bool:
        (row,) = compare([Figure("s", "f", loss, first)], [Figure("s", "f", loss, second)], tolerance)
        assert row.cases == len(first)
        return row.worse

    assert rows(True, [4.0, 2.0], [4.0, 2.2]) and not rows(True, [4.0, 2.0], [4.0, 2.1])
    assert not rows(True, [4.0], [1.0]), "a smaller loss is no harm"
    assert rows(False, [0.5, 0.5], [0.5, 0.4]) and not rows(False, [0.5, 0.5], [0.5, 0.48])
    assert not rows(False, [0.5], [1.0])
    assert rows(True, [1.0, 1.0], [1.0, math.nan]), "what is no number is worse than any"


def test_differences_are_told_with_how_sure_they_are() -> None:
    first = [1.0] * 40
    sure = compare([Figure("s", "f", True, first)], [Figure("s", "f", True, [1.5] * 40)], 0.02)[0]
    assert (sure.low, sure.high) == (0.5, 0.5)
    mixed = compare([Figure("s", "f", True, first)], [Figure("s", "f", True, [0.0, 2.0] * 20)], 0.02)[0]
    assert mixed.low < 0 < mixed.high
