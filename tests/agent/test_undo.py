from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from deskagent.agent import past
from deskagent.agent.apply import apply_patch
from deskagent.agent.undo import find, run_undo
from deskagent.agent.workspace import workspace_lock
from deskagent.errors import TransientError, UsageError
from deskagent.session.journal import Journal


def applied(recorder, project, changes, **more) -> Path:
    """Applies `changes` in the recorder's session, and the session's folder, closed."""
    assert apply_patch(recorder, project, changes, **more) == ""
    recorder.journal.close()
    return recorder.journal.path


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_files_of_every_kind(project, recorder, watcher):
    git(project, "init", "-q")
    (project / ".gitignore").write_text("ignored.py\n")
    before = {"tracked.py": b"a = 1\r\nb\tc\r\n", "untracked.py": b"x", "ignored.py": b"\xff\xfe\x00"}
    for name, data in before.items():
        (project / name).write_bytes(data)
    (project / "tracked.py").chmod(0o755)
    git(project, "add", "tracked.py", ".gitignore")
    git(project, "commit", "-qm", "start")
    status = git(project, "status", "--porcelain")
    session = applied(recorder, project, {name: (data, data + b"!") for name, data in before.items()})
    result, code = run_undo(session, watcher)
    assert (code, result["status"], result["files"]) == (0, "undone", sorted(before))
    assert {name: (project / name).read_bytes() for name in before} == before
    assert stat.S_IMODE((project / "tracked.py").stat().st_mode) == 0o755
    assert git(project, "status", "--porcelain") == status


def test_new_and_deleted_files_and_back_again(project, recorder, watcher):
    (project / "sub").mkdir()
    (project / "sub" / "gone.sh").write_bytes(b"#!/bin/sh\n")
    (project / "sub" / "gone.sh").chmod(0o750)
    session = applied(
        recorder, project, {"sub/gone.sh": (b"#!/bin/sh\n", None), "deep/er/new.py": (None, b"new\n")}
    )
    (project / "deep" / "er" / "new.py").chmod(0o700)
    (project / "sub").rmdir()
    first, _ = run_undo(session, watcher)
    assert (project / "sub" / "gone.sh").read_bytes() == b"#!/bin/sh\n"
    assert stat.S_IMODE((project / "sub" / "gone.sh").stat().st_mode) == 0o750
    assert not (project / "deep" / "er" / "new.py").exists()
    run_undo(session, watcher, step=first["step"])
    assert not (project / "sub" / "gone.sh").exists()
    assert (project / "deep" / "er" / "new.py").read_bytes() == b"new\n"
    assert stat.S_IMODE((project / "deep" / "er" / "new.py").stat().st_mode) == 0o700
    run_undo(session, watcher)
    assert (project / "sub" / "gone.sh").exists()


def test_a_file_that_changed_since_is_refused_and_nothing_else_is_done(project, recorder, watcher):
    for name in ("a.py", "b.py"):
        (project / name).write_bytes(b"0\n")
    session = applied(recorder, project, {"a.py": (b"0\n", b"1\n"), "b.py": (b"0\n", b"1\n")})
    (project / "b.py").write_bytes(b"1\nmine\n")
    with pytest.raises(UsageError, match=r"\+mine") as told:
        run_undo(session, watcher)
    assert "b.py has changed" in told.value.message and "a.py" not in told.value.message
    kept = next(line for line in told.value.message.splitlines() if "contents from before" in line)
    assert Path(kept.partition(": ")[2]).read_bytes() == b"0\n"
    assert ((project / "a.py").read_bytes(), (project / "b.py").read_bytes()) == (b"1\n", b"1\nmine\n")


def test_two_steps_together_one_alone_and_with_somebody_between(project, recorder, watcher):
    (project / "a.py").write_bytes(b"0")
    apply_patch(recorder, project, {"a.py": (b"0", b"1")})
    session = applied(recorder, project, {"a.py": (b"1", b"2")})
    with Journal.open(session, write=False) as journal:
        one, two = (change.intent.id for change in past.read(journal).changes)
    alone, _ = run_undo(session, watcher, step=two)
    assert (project / "a.py").read_bytes() == b"1"
    run_undo(session, watcher, step=alone["step"])
    assert (project / "a.py").read_bytes() == b"2"
    result, _ = run_undo(session, watcher)
    assert (project / "a.py").read_bytes() == b"0"
    assert result["undid"] == [one, two]
    with pytest.raises(UsageError, match="Nothing that this session changed") as told:
        run_undo(session, watcher)
    assert result["step"] in told.value.hint


def test_somebody_s_change_between_two_steps_is_not_lost(project, recorder, watcher):
    (project / "a.py").write_bytes(b"0")
    apply_patch(recorder, project, {"a.py": (b"0", b"1")})
    (project / "a.py").write_bytes(b"1, mine")
    session = applied(recorder, project, {"a.py": (b"1, mine", b"2, mine")})
    with pytest.raises(UsageError, match="somebody else") as told:
        run_undo(session, watcher)
    step = told.value.hint.rpartition(" ")[2]
    run_undo(session, watcher, step=step)
    assert (project / "a.py").read_bytes() == b"1, mine"


def test_as_before_already(project, recorder, watcher):
    (project / "a.py").write_bytes(b"0")
    session = applied(recorder, project, {"a.py": (b"0", b"1")})
    (project / "a.py").write_bytes(b"0")
    result, code = run_undo(session, watcher)
    assert (code, result["files"], result["already"]) == (0, [], ["a.py"])
    with pytest.raises(UsageError):
        find("", project)


def test_a_person_is_asked_and_may_say_no(project, recorder, watcher):
    (project / "a.py").write_bytes(b"0\n")
    session = applied(recorder, project, {"a.py": (b"0\n", b"1\n")})
    watcher.interactive, watcher.answer = True, False
    result, _ = run_undo(session, watcher)
    assert result["status"] == "declined"
    assert "-1\n+0\n" in watcher.asked[0]
    assert (project / "a.py").read_bytes() == b"1\n"
    watcher.answer = True
    run_undo(session, watcher)
    assert (project / "a.py").read_bytes() == b"0\n"


def test_an_interrupted_change_is_settled_first(project, watcher, interrupted):
    session = interrupted({"a.py": (b"0", b"1"), "b.py": (b"0", b"1")})
    for name in ("a.py", "b.py"):
        (project / name).write_bytes(b"1")
    result, _ = run_undo(find("", project), watcher)
    assert result["session_id"] == session
    assert ((project / "a.py").read_bytes(), (project / "b.py").read_bytes()) == (b"0", b"0")


def test_not_beside_another_run(project, recorder, watcher):
    (project / "a.py").write_bytes(b"0")
    apply_patch(recorder, project, {"a.py": (b"0", b"1")})
    with pytest.raises(TransientError, match="in use"):
        run_undo(recorder.journal.path, watcher)
    recorder.journal.close()
    with workspace_lock(project), pytest.raises(TransientError, match="Another run"):
        run_undo(recorder.journal.path, watcher)
    assert (project / "a.py").read_bytes() == b"1"


def test_the_latest_session_whose_changes_hold(project, recorder, watcher):
    (project / "a.py").write_bytes(b"0")
    session = applied(recorder, project, {"a.py": (b"0", b"1")})
    with Journal.create(project):
        pass
    assert find("", project) == session
    run_undo(session, watcher)
    with pytest.raises(UsageError, match="No session"):
        find("", project)


def test_a_failed_apply_is_no_step(project, recorder, watcher):
    (project / "a.py").write_bytes(b"other")
    with pytest.raises(UsageError):
        apply_patch(recorder, project, {"a.py": (b"0", b"1")})
    recorder.journal.close()
    with pytest.raises(UsageError, match="changed no files"):
        run_undo(recorder.journal.path, watcher)
