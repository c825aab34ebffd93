from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent.agent import tree
from deskagent.agent.permissions import Mode
from deskagent.agent.replay import Replay, replay
from deskagent.errors import DeskagentError, UsageError
from deskagent.repo import snapshot
from deskagent.session import events as e
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import find_sandbox
from deskagent.terminal.types import Rung

LINE = "grep -q good a.txt"


@pytest.fixture
def session(project: Path) -> Callable[..., Path]:
    """A session that says: `LINE` was red on the tree as it is now, and green with `after` in a.txt."""

    def make(*, after: bytes | None = b"good\n", test: str | None = LINE) -> Path:
        with Journal.create(project) as journal:
            put = journal.append
            put(e.Request("x", {"test": test, "start": str(project)}))
            ran(put, "1", "observe", 1)
            put(tree.store(snapshot.take(project), journal.blobs))
            if after is not None:
                before = journal.blobs.put((project / "a.txt").read_bytes())
                files = (e.FileChange("a.txt", before, journal.blobs.put(after)),)
                put(e.PatchFound(key="k", diff="", files=files))
                ran(put, "2", "verify", 0, patch="k")
                put(e.StateChanged("verify", "done", "proved"))
            return journal.path

    def ran(put, name: str, stage: str, code: int, patch: str = "") -> None:
        put(e.CommandIntent(id=name, argv=tuple(LINE.split()), cwd=str(project)))
        put(e.CommandResult(name, "exited", code, 0.1))
        put(
            e.TestsObserved(
                runner="command",
                command=LINE,
                failing=code,
                passing=0,
                stage=stage,
                green=not code,
                patch=patch,
            )
        )

    (project / "a.txt").write_bytes(b"bad\n")
    return make


def run(session: Path, watcher, mode: Mode | None = None) -> Replay:
    full = mode or (Mode.FULL if find_sandbox().rung is Rung.NONE else Mode.ASK)
    return replay(session, watcher, env=dict(os.environ), mode=full)


def states(found: Replay) -> list[str]:
    return [side.state for side in found.sides]


def test_it_holds_and_the_tree_may_be_anything_by_now(project, session, watcher):
    made = session()
    (project / "a.txt").unlink()
    (project / "b.txt").write_bytes(b"b")
    found = run(made, watcher)
    assert (found.status, states(found)) == ("holds", ["holds", "holds"])
    assert found.moved == ["a.txt", "b.txt"]
    assert sorted(path.name for path in project.iterdir()) == ["b.txt"]


def test_the_patch_itself_is_no_move(project, session, watcher):
    made = session()
    (project / "a.txt").write_bytes(b"good\n")
    assert run(made, watcher).moved == []


def test_a_claim_that_does_not_hold(session, watcher):
    found = run(session(after=b"still bad\n"), watcher)
    assert (found.status, states(found), found.result()["exit_code"]) == ("fails", ["holds", "fails"], 1)


def test_a_failure_that_is_none(project, session, watcher):
    (project / "a.txt").write_bytes(b"good\n")
    found = run(session(after=None), watcher)
    assert (found.status, found.sides[0].why) == ("fails", "the tests pass")


def test_what_is_lost_makes_a_difference_unknown(project, session, watcher, monkeypatch):
    monkeypatch.setattr(snapshot, "MAX_FILE", 10)
    (project / "large").write_bytes(b"l" * 50)
    right, wrong = session(), session(after=b"still bad\n")
    (project / "large").unlink()
    found = run(right, watcher)
    assert (found.status, found.lost) == ("holds", ["large"])
    found = run(wrong, watcher)
    assert (found.status, found.result()["exit_code"]) == ("unknown", 2)
    assert "may be why: large" in found.sides[1].why


def test_what_can_t_be_replayed(project, session, watcher):
    with Journal.create(project) as journal:
        journal.append(e.Request("x"))
    with pytest.raises(UsageError, match="can't be replayed"):
        run(journal.path, watcher)
    made = session()
    with Journal.open(made, write=False) as journal:
        manifest = next(r.event.manifest for r in journal.read() if isinstance(r.event, e.TreeRecorded))
    (made / "blobs" / manifest).unlink()
    with pytest.raises(DeskagentError, match="missing"):
        run(made, watcher)


def test_a_detected_command_needs_consent(session, watcher):
    if find_sandbox().rung is Rung.NONE:
        pytest.skip("without a sandbox every command needs it")
    made = session(test=None)
    with pytest.raises(UsageError, match="not trusted"):
        run(made, watcher)
    watcher.interactive, watcher.answer = True, False
    with pytest.raises(UsageError, match="not allowed"):
        run(made, watcher)
    assert watcher.asked == [LINE]
