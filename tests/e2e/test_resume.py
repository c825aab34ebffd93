"""Killed, gone on with, replayed and taken back: the whole of it by the installed command."""

from __future__ import annotations

import json
import os
import signal

import pytest

BUGGY = b"def add(a, b):\r\n    return a - b\r\n"
TEST = """
    import unittest
    from calc import add

    class T(unittest.TestCase):
        def test_add(self):
            self.assertEqual(add(1, 2), 3)

        def test_zero(self):
            self.assertEqual(add(0, 0), 0)
"""
WORDS = ("add subtracts", "--test", "python -m unittest -q", "--max-candidates", "6")


def killed_at(agent, folder, event, *words):
    """Starts a run and kills it when it has said `event`."""
    command = agent.fix_words(*words)
    command[command.index("json")] = "stream-json"
    child = agent.start(command, folder)
    for line in child.stdout:
        if json.loads(line)["type"] == event:
            break
    else:
        pytest.fail(f"it ended without {event}")
    os.kill(child.pid, signal.SIGKILL)
    child.communicate(timeout=120)


def command(agent, folder, *words):
    return agent.run([*agent.command, *words, "--output-format", "json"], folder)


def test_killed_twice_then_repaired_replayed_and_taken_back(agent, project, git):
    folder = project({"calc.py": BUGGY, "test_calc.py": TEST, ".gitignore": "calc.py\n", "notes": "1\n"})
    killed_at(agent, folder, "suspects_found", *WORDS)
    killed_at(agent, folder, "patch_found", "--continue")
    assert (folder / "calc.py").read_bytes() == BUGGY
    done = agent.fix("--resume", cwd=folder)
    assert done.code == 0, (done.stdout, done.stderr)
    result = done.result
    assert (result["status"], result["applied"], result["resumed"]) == ("fixed", True, True)
    assert result["request"] == WORDS[0] and result["test_command"]["line"] == WORDS[2]
    assert any("checked again" in notice for notice in result["notices"])
    repaired = BUGGY.replace(b"-", b"+")
    assert (folder / "calc.py").read_bytes() == repaired
    again = agent.fix("-c", cwd=folder).result
    assert (again["status"], again["apply_note"]) == ("fixed", "by an earlier run of this session")
    assert again["session_id"] == result["session_id"]

    # The tree moves on: what was right is wrong, files are gone, and git has another HEAD.
    (folder / "test_calc.py").unlink()
    (folder / "new.py").write_text("import nothing_at_all\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "moved on")
    replayed = command(agent, folder, "verify")
    assert replayed.code == 0, (replayed.stdout, replayed.stderr)
    assert replayed.result["moved"] == ["new.py", "test_calc.py"] and replayed.result["lost"] == []
    sides = replayed.result["before"], replayed.result["after"]
    assert [(side["state"], side["seen"]["exit_code"]) for side in sides] == [("holds", 1), ("holds", 0)]
    assert not (folder / "test_calc.py").exists()

    undone = command(agent, folder, "undo")
    assert undone.code == 0 and (folder / "calc.py").read_bytes() == BUGGY
    assert git(folder, "status", "--porcelain") == ""
    listed = agent.run([*agent.command, "sessions", "list"], folder).stdout.splitlines()
    assert len(listed) == 1 and " undone " in listed[0]


def test_a_limit_then_another_and_what_changed_in_between(agent, project):
    folder = project({"calc.py": BUGGY.replace(b"-", b"*"), "test_calc.py": TEST}, git=False)
    first = agent.fix(*WORDS[:3], "--max-candidates", "1", cwd=folder)
    assert (first.code, first.result["status"]) == (53, "limit")
    (folder / "notes.txt").write_text("new\n")
    done = agent.fix("-r", first.result["session_id"][:-2], "--max-candidates", "40", cwd=folder)
    assert (done.code, done.result["status"]) == (0, "fixed"), (done.stdout, done.stderr)
    assert any("notes.txt changed since" in notice for notice in done.result["notices"])


def test_a_patch_that_the_last_candidate_was_is_proved_by_the_next_run(agent, project):
    folder = project({"calc.py": BUGGY, "test_calc.py": TEST}, git=False)
    killed_at(agent, folder, "patch_found", *WORDS[:-1], "2")
    done = agent.fix("-c", cwd=folder)
    assert (done.code, done.result["status"], done.result["applied"]) == (0, "fixed", True), done.stderr


def test_a_fork_goes_on_and_leaves_the_other_session_as_it_is(agent, project, snapshot):
    folder = project({"calc.py": BUGGY, "test_calc.py": TEST}, git=False)
    killed_at(agent, folder, "patch_found", *WORDS)
    old = next((agent.home / "data" / "sessions").iterdir())
    before = snapshot(old)
    done = agent.fix("-r", old.name, "--fork", cwd=folder)
    assert (done.code, done.result["status"], done.result["applied"]) == (0, "fixed", True), done.stderr
    assert done.result["session_id"] != old.name and done.result["request"] == WORDS[0]
    assert any("checked again" in notice for notice in done.result["notices"])
    assert snapshot(old) == before
    # Each undoes what it did itself.
    assert command(agent, folder, "undo", old.name).code != 0
    assert command(agent, folder, "undo", done.result["session_id"]).code == 0
    assert (folder / "calc.py").read_bytes() == BUGGY


@pytest.mark.parametrize(
    "words", [("fix", "-c"), ("fix", "x", "--fork"), ("fix", "-r", "nonsense"), ("undo",), ("verify",)]
)
def test_nothing_to_go_on_with(agent, project, words):
    folder = project({"calc.py": BUGGY}, git=False)
    done = agent.run([*agent.command, *words], folder)
    assert done.code == 2 and "session" in done.stderr and "Traceback" not in done.stderr
