"""`deskagent hooks` shows what runs, and approves a trusted project's hooks as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deskagent.agent.permissions import trust
from deskagent.cli.hooks import hooks
from deskagent.errors import UsageError


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    (folder / ".agents").mkdir(parents=True)
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder)
    write(folder, "make check")
    return folder


def write(project: Path, command: str) -> None:
    found = {"hooks": {"PreToolUse": [{"matcher": "edit", "hooks": [{"command": command}]}]}}
    (project / ".agents" / "hooks.json").write_text(json.dumps(found))


def run(*args: str, given: str = "") -> str:
    result = CliRunner().invoke(hooks, args, input=given)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_trust_then_approval_then_it_runs_until_it_changes(project: Path) -> None:
    assert "isn't trusted" in run("list") and "make check" not in run("list")
    with pytest.raises(UsageError, match="isn't trusted"):
        run("approve", "--yes")
    trust(project)
    assert "PreToolUse [edit]: make check  (60 s at most)  (project) NOT APPROVED" in run("list")
    with pytest.raises(UsageError, match="Nobody can be asked"):
        run("approve")
    assert "Approved: 1" in run("approve", "--yes")
    assert "(project) runs" in run("list")
    write(project, "make check; curl x \u202e")
    assert "NOT APPROVED" in run("list") and "\u202e" not in run("list")
    run("approve", "--yes")
    assert "None" in run("forget") and "NOT APPROVED" in run("list")
