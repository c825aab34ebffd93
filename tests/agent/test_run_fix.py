"""Whole runs in this process, with a person who answers: consent, modes, and a suite that is only slow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deskagent.agent import cold, replay
from deskagent.agent.permissions import Mode, trust
from deskagent.agent.recorder import Recorder
from deskagent.agent.report import Report, Status
from deskagent.agent.request import FixOptions
from deskagent.agent.run_fix import run_fix
from deskagent.repair.command import resolve
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import find_sandbox

BUGGY = "def largest(items):\n    return min(items)\n"
TEST = "from app import largest\n\n\ndef test_largest():\n    assert largest([3, 1, 2]) == 3\n"
LINE = f"{sys.executable} -m pytest -q"


@pytest.fixture
def buggy(project: Path) -> Path:
    (project / "app.py").write_text(BUGGY)
    (project / "test_app.py").write_text(TEST)
    return project


def go(folder: Path, front, *, mode: Mode = Mode.ASK, test: str | None = LINE, apply: bool = True) -> Report:
    report = Report("the largest item")
    options = FixOptions(
        request="the largest item", start=folder, env=dict(os.environ), argv=("deskagent", "fix"), test=test,
        effort="low", max_seconds=None, max_candidates=None, files=(), apply=apply, mode=mode,
    )  # fmt: skip
    run_fix(options, front, report)
    return report


def test_the_whole_diff_is_shown_before_it_is_applied(buggy: Path, watcher) -> None:
    watcher.interactive = True
    report = go(buggy, watcher)
    assert (report.status, report.exit_code, report.applied) == (Status.FIXED, 0, True)
    assert [asked for asked in watcher.asked if "-    return min(items)" in asked]
    assert "max(items)" in (buggy / "app.py").read_text()


def test_declined_is_not_applied(buggy: Path, watcher) -> None:
    watcher.interactive, watcher.answer = True, False
    report = go(buggy, watcher)
    assert (report.status, report.applied) == (Status.FIXED, False)
    assert report.apply_note
    assert (buggy / "app.py").read_text() == BUGGY


def test_plan_never_writes(buggy: Path, watcher) -> None:
    report = go(buggy, watcher, mode=Mode.PLAN)
    assert report.status is Status.FIXED
    assert "max(items)" in report.result()["patch"]["diff"]
    assert (buggy / "app.py").read_text() == BUGGY


def test_a_detected_command_needs_trust_when_nobody_can_be_asked(buggy: Path, watcher) -> None:
    report = go(buggy, watcher, test=None)
    assert (report.status, report.exit_code) == (Status.ERROR, 2)
    assert "not trusted" in report.result()["error"]["message"]
    trust(buggy)
    assert go(buggy, watcher, test=None, apply=False).status is Status.FIXED


def test_a_detected_command_is_asked_for_and_may_be_declined(buggy: Path, watcher) -> None:
    watcher.interactive, watcher.answer = True, False
    report = go(buggy, watcher, test=None)
    assert report.exit_code == 2
    assert ["pytest" in asked for asked in watcher.asked] == [True]
    assert f"in {buggy}" in watcher.asked[0]


def test_started_in_a_subproject_its_own_tests_are_detected_asked_for_and_replayed(
    project: Path, watcher
) -> None:
    (project / "test_other.py").write_text("def test_other():\n    assert False\n")
    part = project / "part"
    (part / "tests").mkdir(parents=True)
    (part / "app.py").write_text(BUGGY)
    (part / "tests" / "test_app.py").write_text(TEST)
    subprocess.run(["git", "init", "-q", project], check=True)
    watcher.interactive = True
    report = go(part, watcher, test=None)
    assert report.status is Status.FIXED
    assert f"in {part}" in watcher.asked[0]
    assert "max(items)" in (part / "app.py").read_text()
    found = replay.replay(replay.find("", project), watcher, env=dict(os.environ), mode=Mode.AUTO)
    assert found.result()["status"] == "holds"


def test_the_temporary_folder_may_lie_in_the_project(
    buggy: Path, watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    (buggy / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(buggy / "tmp"))
    assert go(buggy, watcher).applied
    assert list((buggy / "tmp").iterdir()) == []


@pytest.mark.parametrize("seconds", [8.0, 40.0])
def test_a_small_limit_leaves_time_to_look_for_what_hangs(project: Path, watcher, seconds: float) -> None:
    (project / "test_hang.py").write_text("def test_hang():\n    while True:\n        pass\n")
    with Journal.create(project) as journal:
        proof = cold.observe_cold(
            Recorder(journal, watcher), project, resolve(LINE, project, os.environ), {},
            sandbox=find_sandbox(), purpose="observe", seconds=seconds, stall=True,
        )  # fmt: skip
    assert proof.stalled
    assert proof.silent == cold.bearable(seconds)


@pytest.mark.parametrize(
    ("left", "silent"), [(1.0, 0.6), (4.0, 2.4), (8.0, 3.0), (40.0, 10.0), (400.0, 12.0)]
)
def test_of_very_little_time_silence_may_take_more_than_half(left: float, silent: float) -> None:
    assert cold.bearable(left) == pytest.approx(silent)


def test_a_suite_that_is_only_slow_is_not_taken_for_a_hanging_one(
    project: Path, watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cold, "STALL_SECONDS", 1.5)
    (project / "test_slow.py").write_text(
        "import time\n\n\ndef test_slow():\n    time.sleep(4)\n    assert True\n"
    )
    report = go(project, watcher)
    assert report.status is Status.NOTHING_TO_FIX
    assert report.exit_code == 0


def test_a_command_that_hides_its_failures_proves_nothing(buggy: Path, watcher) -> None:
    report = go(buggy, watcher, test=f"{LINE} | cat")
    assert (report.status, report.exit_code) == (Status.ERROR, 2)
    assert "printed 1 failed" in report.result()["error"]["message"]
