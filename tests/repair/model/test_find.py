from __future__ import annotations

import json
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.model import find as finding
from deskagent.repair.model.judge import Opinion
from deskagent.repair.model.weights import FILE, Weights, read


def test_none_is_none_and_auto_says_nothing_where_there_is_no_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_OWN", tmp_path / "absent")
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path))
    assert finding.find("none") is None
    assert finding.find("auto") is None


def test_a_folder_without_a_checkpoint_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no checkpoint"):
        finding.find(str(tmp_path))


def test_packages_that_are_missing_are_named_only_where_a_model_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr(finding, "_OWN", tmp_path)
    monkeypatch.setattr(finding, "_NEEDED", ("no_such_package",))
    assert finding.find("auto") is None
    with pytest.raises(UsageError, match="no_such_package is not installed"):
        finding.find(str(tmp_path))


def test_weights_lie_beside_the_checkpoint(tmp_path: Path) -> None:
    assert read(tmp_path) == Weights()
    (tmp_path / FILE).write_text(json.dumps({"prior": 1, "loglik": 2, "tokens": 3, "none": 4, "cases": 7}))
    assert read(tmp_path) == Weights(1.0, 2.0, 3.0, 4.0)
    assert read(tmp_path).said(Opinion(-1.0, 2), Opinion(-0.5, 1)) == -2.0 + 6.0 - 2.0
    (tmp_path / FILE).write_text("[]")
    assert read(tmp_path) == Weights(), "what can't be read is as if it weren't there"
