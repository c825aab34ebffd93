from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(sys.executable).with_name("deskagent")


def doctor(home: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    settings = os.environ | {"DESKAGENT_HOME": str(home)} | env
    return subprocess.run([TOOL, "doctor", *args], env=settings, capture_output=True, text=True)


def test_every_finding_has_a_state_and_what_is_amiss_says_what_to_do(tmp_path: Path) -> None:
    done = doctor(tmp_path, "--json")
    findings = json.loads(done.stdout)["findings"]
    names = {f["name"] for f in findings}
    assert {"Python", "git", "Sessions", "Scratch", "Terminal"} <= names
    assert any(name.startswith("Sandbox") for name in names)
    for finding in findings:
        assert finding["state"] in ("ok", "warning", "bad")
        assert finding["state"] == "ok" or finding["todo"]
    assert done.returncode == (1 if any(f["state"] == "bad" for f in findings) else 0)


def test_git_missing_is_a_warning(tmp_path: Path) -> None:
    done = doctor(tmp_path, "--json", PATH=str(tmp_path))
    (found,) = [f for f in json.loads(done.stdout)["findings"] if f["name"] == "git"]
    assert found["state"] == "warning"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_can_t_be_written_is_bad(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    done = doctor(tmp_path / "home")
    assert done.returncode == 1
    assert "bad" in done.stdout


def test_a_file_in_the_way_is_bad(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    done = doctor(tmp_path, "--json")
    assert done.returncode == 1
    assert [f["state"] for f in json.loads(done.stdout)["findings"] if f["name"] == "Sessions"] == ["bad"]
