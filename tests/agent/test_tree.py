from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from deskagent.agent import tree
from deskagent.agent.rebuild import rebuild
from deskagent.repo import snapshot
from deskagent.repo.scratch import make_scratch
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import Unconfined


@pytest.fixture
def session(project):
    with Journal.create(project) as journal:
        yield journal


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def fill(project: Path) -> None:
    (project / "pkg").mkdir()
    (project / "pkg" / "a.py").write_bytes(b"a = 1\r\n")
    (project / "pkg" / "b.py").write_bytes(b"b\n")
    (project / "run.sh").write_bytes(b"#!/bin/sh\n")
    (project / "run.sh").chmod(0o755)
    (project / "link").symlink_to("pkg/a.py")
    (project / "empty").mkdir()
    (project / os.fsdecode(b"\xff")).write_bytes(b"odd")


def move_on(project: Path) -> None:
    """Everything that can happen to a tree."""
    shutil.rmtree(project / "pkg")
    (project / "pkg").write_bytes(b"a file now")
    (project / "run.sh").chmod(0o644)
    (project / "link").unlink()
    (project / "link").mkdir()
    (project / "link" / "inside").write_bytes(b"x")
    (project / "empty" / "full").write_bytes(b"x")
    (project / "new").mkdir()
    (project / "new" / "file").write_bytes(b"x")
    (project / os.fsdecode(b"\xff")).unlink()
    (project / os.fsdecode(b"\xff")).symlink_to("/etc/passwd")


def look(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] == ".git":
            continue
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            found[name] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        else:
            found[name] = "folder"
    return found


@pytest.mark.parametrize("with_git", [False, True])
def test_the_tree_as_it_was_when_it_has_moved_on(project, session, with_git):
    fill(project)
    if with_git:
        git(project, "init", "-q")
        git(project, "add", "-A")
        git(project, "commit", "-qm", "start")
        (project / "pkg" / "b.py").write_bytes(b"dirty\n")
    before = look(project)
    recorded = tree.store(snapshot.take(project), session.blobs)
    assert bool(recorded.commit) is with_git and recorded.missing == 0
    move_on(project)
    if with_git:
        git(project, "add", "-A")
        git(project, "commit", "-qm", "moved on")
    entries = tree.load(recorded, session.blobs)
    with make_scratch(project, Unconfined()) as scratch:
        assert rebuild(scratch, entries, recorded, session.blobs, project) == []
        assert look(scratch.root) == before
    assert (project / "pkg").read_bytes() == b"a file now"


def test_what_can_t_be_had_again_is_named_and_absent(project, session, monkeypatch):
    monkeypatch.setattr(snapshot, "MAX_FILE", 10)
    (project / "large").write_bytes(b"l" * 50)
    (project / "same").write_bytes(b"s" * 50)
    (project / "small").write_bytes(b"small")
    recorded = tree.store(snapshot.take(project), session.blobs)
    assert recorded.missing == 2
    (project / "large").write_bytes(b"L" * 50)
    entries = tree.load(recorded, session.blobs)
    with make_scratch(project, Unconfined()) as scratch:
        assert rebuild(scratch, entries, recorded, session.blobs, project) == ["large"]
        assert sorted(look(scratch.root)) == ["same", "small"]
    (session.path / "blobs" / recorded.contents).write_bytes(b"rubbish")
    (project / "small").unlink()
    with make_scratch(project, Unconfined()) as scratch:
        assert rebuild(scratch, entries, recorded, session.blobs, project) == ["large", "small"]


def test_a_keeper_says_why_it_could_not(project, session, monkeypatch):
    (project / "a").write_bytes(b"a")
    recorded = tree.Keeper(project, session.blobs).result()
    assert not isinstance(recorded, str) and recorded.files == 1
    assert "No such file" in str(tree.Keeper(project / "absent", session.blobs).result())


def test_what_differs(project):
    def now():
        return {entry.path: entry for entry in snapshot.take(project).entries}

    (project / "a").write_bytes(b"a")
    (project / "b").write_bytes(b"b")
    before = now()
    assert tree.changed(before, now()) == []
    (project / "a").chmod(0o600)
    (project / "b").unlink()
    (project / "c").write_bytes(b"c")
    assert tree.changed(before, now()) == ["a", "b", "c"]
