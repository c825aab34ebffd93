"""`fix --model FOLDER`: its licence is asked for before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from deskagent import licences
from deskagent.cli.fix import fix
from deskagent.errors import UsageError

pytest.importorskip("torch")


@pytest.fixture
def licensed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "README.md").write_text("---\nlicense: other\nlicense_name: its-own\n---\n")
    (folder / "config.json").write_text("{}")
    return folder


def test_where_nobody_can_be_asked_it_ends_at_once(licensed: Path) -> None:
    done = CliRunner().invoke(fix, ["it is wrong", "--model", str(licensed)], standalone_mode=False)
    assert done.return_value == UsageError.exit_code
    assert "its-own has to be agreed to" in done.stderr
    assert "--accept-license" in done.stderr


def test_agreed_to_on_the_command_line_it_is_remembered(licensed: Path) -> None:
    from engine.weights.card import fingerprint, licence_of

    CliRunner().invoke(
        fix, ["it is wrong", "--model", str(licensed), "--accept-license", "--test", "nothing-such"]
    )
    licence = licence_of(licensed)
    assert licence is not None
    assert licences.is_agreed(fingerprint(licensed, licence))
