"""Files and folders that the person may not read or write: the rest is repaired, or what stands in the way is said."""

from __future__ import annotations

import os
import subprocess

import pytest

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": """
        import unittest

        from calc import add


        class T(unittest.TestCase):
            def test_add(self):
                self.assertEqual(add(1, 2), 3)
    """,
}
WORDS = ("add subtracts", "--test", "python -m unittest -q", "--max-candidates", "10")
ORDINARY = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")
"""Root that modes count for, as they do for anybody else."""


@pytest.fixture
def person() -> list[str]:
    """What a command begins with so that file modes are kept to."""
    if os.getuid():
        return []
    try:
        subprocess.run([*ORDINARY, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("root, and no setpriv that takes its privileges away")
    return list(ORDINARY)


def test_files_that_cannot_be_read(agent, project, git, tmp_path, person):
    folder = project(
        {**FILES, "hidden.py": "def add(a, b): ...\n", "data/blob": "1\n", "secret/inner.py": "x = 1\n"}
    )
    tree = tmp_path / "tree"
    git(folder, "worktree", "add", "-q", "--detach", str(tree))
    closed = ("hidden.py", "data/blob", "secret")
    for start in (folder, tree):
        modes = {name: (start / name).stat().st_mode for name in closed}
        for name in closed:
            (start / name).chmod(0)
        done = agent.run([*person, *agent.fix_words(*WORDS)], start)
        assert (done.code, done.result.get("status")) == (0, "fixed"), (done.stdout, done.stderr)
        assert (start / "calc.py").read_text() == FILES["calc.py"].replace("-", "+")
        assert all((start / name).stat().st_mode & 0o777 == 0 for name in closed)
        undone = agent.run([*person, *agent.command, "undo"], start)
        assert undone.code == 0, undone.stderr
        for name, mode in modes.items():
            (start / name).chmod(mode)
        assert (start / "calc.py").read_text() == FILES["calc.py"]
        assert git(start, "status", "--porcelain") == ""


def test_a_folder_that_cannot_be_written(agent, project, snapshot, person):
    folder = project(FILES)
    before = snapshot(folder)
    folder.chmod(0o555)
    try:
        done = agent.run([*person, *agent.fix_words(*WORDS)], folder)
    finally:
        folder.chmod(0o755)
    assert done.code == 2, (done.stdout, done.stderr)
    error = done.result["error"]
    assert "Permission denied" in error["message"] and "Nothing was changed" in error["message"]
    assert "writable" in error["hint"]
    assert snapshot(folder) == before


def test_a_home_that_cannot_be_written(agent, project, snapshot, person):
    folder = project(FILES)
    before = snapshot(folder)
    agent.home.chmod(0o555)
    try:
        done = agent.run([*person, *agent.fix_words(*WORDS)], folder)
    finally:
        agent.home.chmod(0o755)
    assert done.code == 2 and "Traceback" not in done.stderr
    assert "DESKAGENT_HOME" in done.stdout + done.stderr and str(agent.home) in done.stdout + done.stderr
    assert snapshot(folder) == before
