from __future__ import annotations

import json
from pathlib import Path

import pytest

from deskagent import served
from deskagent.errors import UsageError
from deskagent.repair.model import find as finding
from deskagent.repair.model.judge import Opinion
from deskagent.repair.model.weights import FILE, Weights, read
from engine.prompt.repair import TAUGHT


def put(folder: Path, version: object = 1, questions: int = TAUGHT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    (folder / finding.MADE).write_text(json.dumps({"version": version, "questions": questions}))
    return folder


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the one that comes with deskagent would be; its packages are there."""
    monkeypatch.setattr(finding, "_OWN", tmp_path / "own")
    monkeypatch.setattr(served, "_NEEDED", ("json",))
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    return tmp_path / "own"


@pytest.fixture
def mine(own: Path) -> Path:
    from deskagent.paths import data_dir

    return data_dir() / "models" / "mini"


def test_none_is_none_and_auto_goes_without_where_there_is_no_checkpoint(own: Path) -> None:
    assert finding.choose("none").folder is None
    assert finding.choose("auto") == finding.Choice(
        None, "this install holds no checkpoint that can be asked"
    )


def test_auto_takes_the_one_that_comes_with_deskagent(own: Path) -> None:
    put(own, 2)
    assert finding.choose("auto") == finding.Choice(own, "version 2, which comes with deskagent")


@pytest.mark.parametrize(
    ("version", "questions", "wins"),
    [(3, TAUGHT, True), (2, TAUGHT, False), (1, TAUGHT, False), (9, TAUGHT + 1, False), ("x", TAUGHT, False)],
)
def test_ones_own_takes_its_place_only_where_it_is_newer_and_knows_the_questions(
    own: Path, mine: Path, version: object, questions: int, wins: bool
) -> None:
    put(own, 2)
    put(mine, version, questions)
    chosen = finding.choose("auto")
    assert chosen.folder == (mine if wins else own)
    assert ("is no newer one" in chosen.why) == (not wins and questions == TAUGHT)


def test_without_one_that_comes_along_ones_own_is_taken(mine: Path) -> None:
    put(mine)
    assert finding.choose("auto").folder == mine
    (mine / finding.MADE).write_text("[1]")
    assert finding.choose("auto").folder is None, "nobody knows what it was taught"


def test_a_folder_without_a_checkpoint_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no checkpoint"):
        finding.choose(str(tmp_path))


def test_a_named_one_may_tell_nothing_of_itself_but_not_that_it_knows_other_questions(own: Path) -> None:
    put(own)
    (own / finding.MADE).unlink()
    assert finding.choose(str(own)).folder == own
    put(own, 1, TAUGHT + 1)
    with pytest.raises(UsageError, match="was taught other questions"):
        finding.choose(str(own))


def test_packages_that_are_missing_are_named(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(own)
    monkeypatch.setattr(served, "_NEEDED", ("no_such_package",))
    chosen = finding.choose("auto")
    assert chosen.folder is None
    assert chosen.why.startswith("no_such_package is not installed; pip install")
    with pytest.raises(UsageError, match="no_such_package is not installed"):
        finding.choose(str(own))


def test_weights_lie_beside_the_checkpoint(tmp_path: Path) -> None:
    assert read(tmp_path) == Weights()
    (tmp_path / FILE).write_text(json.dumps({"prior": 1, "loglik": 2, "tokens": 3, "none": 4, "cases": 7}))
    assert read(tmp_path) == Weights(1.0, 2.0, 3.0, 4.0)
    assert read(tmp_path).said(Opinion(-1.0, 2), Opinion(-0.5, 1)) == -2.0 + 6.0 - 2.0
    (tmp_path / FILE).write_text("[]")
    assert read(tmp_path) == Weights(), "what can't be read is as if it weren't there"
