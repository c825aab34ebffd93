from __future__ import annotations

import stat
from pathlib import Path

from deskagent.agent import past, settle
from deskagent.session import index, store
from deskagent.session.journal import Journal

TWO: dict[str, tuple[bytes | None, bytes | None]] = {"a.py": (b"a0\r\n", b"a1\r\n"), "b.py": (b"b0", b"b1")}


def outcome(session: str):
    with Journal.open(store.find(session), write=False) as journal:
        (change,) = past.read(journal).changes
    return change.result


def put(project: Path, **files: bytes) -> None:
    for name, data in files.items():
        (project / f"{name}.py").write_bytes(data)


def contents(project: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in project.iterdir()}


def test_nothing_had_been_done(project, recorder, watcher, interrupted):
    session = interrupted(TWO)
    put(project, a=b"a0\r\n", b=b"b0")
    settle.settle_earlier(recorder, project)
    assert outcome(session).ok is False
    assert contents(project) == {"a.py": b"a0\r\n", "b.py": b"b0"}
    assert "as before: a.py, b.py" in watcher.told()


def test_all_of_it_had_been_done(project, recorder, watcher, interrupted):
    session = interrupted(TWO)
    put(project, a=b"a1\r\n", b=b"b1")
    settle.settle_earlier(recorder, project)
    assert outcome(session).ok is True
    assert contents(project) == {"a.py": b"a1\r\n", "b.py": b"b1"}
    assert "complete" in watcher.told()


def test_half_of_it_goes_back(project, recorder, watcher, interrupted):
    session = interrupted(TWO)
    put(project, a=b"a1\r\n", b=b"b0")
    settle.settle_earlier(recorder, project)
    assert outcome(session).ok is False
    assert contents(project) == {"a.py": b"a0\r\n", "b.py": b"b0"}
    assert "went back (a.py)" in watcher.told()


def test_what_somebody_changed_since_is_left_alone(project, recorder, watcher, interrupted):
    session = interrupted(TWO)
    put(project, a=b"a1\r\n", b=b"mine")
    settle.settle_earlier(recorder, project)
    assert (outcome(session).ok, outcome(session).left) == (False, ("b.py",))
    assert contents(project) == {"a.py": b"a1\r\n", "b.py": b"mine"}
    assert "b.py changed since" in watcher.told()


def test_a_deleted_file_comes_back_with_its_mode(project, recorder, interrupted):
    interrupted({"run": (b"#!/bin/sh\n", None), "b.py": (b"b0", b"b1")}, mode=0o755)
    put(project, b=b"b0")
    settle.settle_earlier(recorder, project)
    assert (project / "run").read_bytes() == b"#!/bin/sh\n"
    assert stat.S_IMODE((project / "run").stat().st_mode) == 0o755


def test_a_new_file_of_half_a_change_goes_away(project, recorder, interrupted):
    interrupted({"new.py": (None, b"x"), "b.py": (b"b0", b"b1")})
    put(project, new=b"x", b=b"b0")
    settle.settle_earlier(recorder, project)
    assert contents(project) == {"b.py": b"b0"}


def test_what_was_written_beside_is_cleared_away(project, recorder, interrupted, monkeypatch):
    from deskagent.repo import apply

    interrupted(TWO)
    put(project, a=b"a0\r\n", b=b"b0")

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(apply, "_change_places", killed)
        patch.setattr(apply, "_roll_back", lambda targets: None)
        try:
            apply.apply(project, TWO)
        except Killed:
            pass
    assert len(list(project.iterdir())) == 4
    settle.settle_earlier(recorder, project)
    assert contents(project) == {"a.py": b"a0\r\n", "b.py": b"b0"}


def test_it_is_settled_once(project, recorder, watcher, interrupted):
    session = interrupted(TWO)
    put(project, a=b"a0\r\n", b=b"b0")
    assert [s.unsettled for s in index.sessions(project) if s.id == session] == [True]
    settle.settle_earlier(recorder, project)
    assert [s.unsettled for s in index.sessions(project) if s.id == session] == [False]
    watcher.shown.clear()
    settle.settle_earlier(recorder, project)
    assert watcher.shown == []


def test_a_session_in_use_and_damaged_contents_are_told_and_nothing_else(
    project, recorder, watcher, interrupted
):
    put(project, a=b"a1\r\n", b=b"b0")
    session = interrupted(TWO)
    with Journal.open(session):
        settle.settle_earlier(recorder, project)
    assert "not settled yet" in watcher.told()
    for blob in (store.find(session) / "blobs").iterdir():
        blob.write_bytes(b"rubbish")
    settle.settle_earlier(recorder, project)
    assert "can't be settled" in watcher.told()
    assert contents(project) == {"a.py": b"a1\r\n", "b.py": b"b0"}


def test_other_folders_are_not_touched(project, recorder, watcher, interrupted, tmp_path):
    interrupted(TWO)
    put(project, a=b"a1\r\n", b=b"b0")
    settle.settle_earlier(recorder, tmp_path)
    assert watcher.shown == [event for event in watcher.shown if not hasattr(event, "level")]
    settle.left_open(recorder, project)
    assert "was interrupted" in watcher.told()
    assert contents(project) == {"a.py": b"a1\r\n", "b.py": b"b0"}
