from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deskagent.agent.workspace import check_globs, project_root, workspace_lock
from deskagent.errors import TransientError, UsageError

HOLD = """
import sys, time
from pathlib import Path
from deskagent.agent.workspace import workspace_lock
with workspace_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESKAGENT_HOME", str(tmp_path / "deskagent"))


def test_a_second_run_is_told_who_holds_the_folder_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(TransientError, match=str(holder.pid)), workspace_lock(tmp_path):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with workspace_lock(tmp_path):
        pass


def test_two_folders_don_t_wait_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with workspace_lock(tmp_path), workspace_lock(tmp_path / "other"):
        for held in (tmp_path, tmp_path / "other"):
            with pytest.raises(TransientError), workspace_lock(held):
                pass


def test_the_root_is_the_git_work_tree_s(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "package"
    inner.mkdir(parents=True)
    assert project_root(inner) == inner.resolve()
    subprocess.run(["git", "init", "-q", tmp_path / "repository"], check=True)
    assert project_root(inner) == (tmp_path / "repository").resolve()


def test_the_home_folder_and_the_root_are_no_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in (tmp_path, Path("/")):
        with pytest.raises(UsageError, match="not a project folder"):
            project_root(folder)


@pytest.mark.parametrize(
    "glob", ["calc.py", "*.py", "src/", "src/deep.py", "./src/*.py", "**/deep.py", "data.csv", ".", "./"]
)
def test_globs_that_fit(tmp_path: Path, glob: str) -> None:
    for name in ("calc.py", "src/deep.py", "data.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / ".gitignore").write_text("data.csv\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    check_globs(tmp_path, [glob])


@pytest.mark.parametrize("glob", ["nothing*.py", "/etc/passwd", "srcc/", "[", "../*"])
def test_a_glob_that_nothing_fits_is_refused(tmp_path: Path, glob: str) -> None:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src/calc.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="--files"):
        check_globs(folder, ["*.py", glob])
    check_globs(folder, [])
