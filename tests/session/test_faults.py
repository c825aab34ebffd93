"""The storage fails or the process dies at operation N, for every N of a session: nothing acknowledged is
lost."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskagent.errors import TransientError
from deskagent.session.events import (
    ApplyIntent,
    CandidatesTried,
    FileChange,
    Notice,
    Request,
    StepStarted,
    Trial,
)
from deskagent.session.journal import Journal

FOREVER = 1 << 30
TRIALS = CandidatesTried((Trial("k", "compare.boundary", "a.py", 3, "< → <=", "red"),) * 2)
EVENTS = 12


def session(report: Callable[[str], None], attempts: int = 1) -> None:
    """A small session with rotations, blobs, synced and unsynced events, closed and opened again half way.

    Reports `id ID` and for each acknowledged event `ok NAME synced|unsynced`. What fails with
    TransientError is tried `attempts` times in all and then given up.
    """

    def tried(action: Callable[[], Any]) -> Any:
        for _ in range(attempts):
            try:
                return action()
            except TransientError:
                continue
        return None

    journal = tried(lambda: Journal.create(Path("/work"), segment_bytes=700))
    if journal is None:
        return
    report(f"id {journal.id}")

    def add(name: str, event: Any) -> None:
        if tried(lambda: journal.append(event)) is not None:
            report(f"ok {name} {'synced' if event.sync else 'unsynced'}")

    for part in "ab":
        add(f"{part}1", Request(f"{part}1"))
        add(f"{part}2", StepStarted(f"{part}2", "plan", "low"))
        add("trials", TRIALS)
        add(f"{part}4", Notice("info", f"{part}4"))
        sha = tried(lambda put=journal.blobs.put, part=part: put(b"before " + part.encode()))
        if sha is not None:
            add(f"{part}5", ApplyIntent(f"{part}5", (FileChange("a.py", sha, None),)))
        add(f"{part}6", StepStarted(f"{part}6", "plan", "low"))
        tried(journal.close)
        journal = tried(lambda id=journal.id: Journal.open(id, segment_bytes=700))
        if journal is None:
            return
    report("end")


def names(journal: Journal) -> list[str]:
    """The names of the events in the session; the blobs that they mention are there."""
    found = []
    for record in journal.read():
        match record.event:
            case Request(text=name) | Notice(text=name) | StepStarted(id=name):
                found.append(name)
            case CandidatesTried():
                found.append("trials")
            case ApplyIntent(id=name, files=(change,)):
                found.append(name)
                assert journal.blobs.get(change.before or "") == b"before " + name[:1].encode()
            case _:
                pass
    return found


def check(home: Path, reported: list[str], *, kinds: tuple[str, ...] = ("synced", "unsynced")) -> None:
    """Every session opens with unbroken numbers and goes on; the reported one holds what was acknowledged."""
    assert not [line for line in reported if line.startswith("crashed")]
    root = home / "data" / "sessions"
    for folder in root.iterdir() if root.exists() else []:
        with Journal.open(folder) as journal:
            numbers = [record.seq for record in journal.read()]
            assert numbers == list(range(1, len(numbers) + 1)), journal.warnings
            assert journal.append(Request("goes on")) == len(numbers) + 1
            assert names(journal)[-1] == "goes on"
    if ids := [line[3:] for line in reported if line.startswith("id ")]:
        acknowledged = [line.split()[1:] for line in reported if line.startswith("ok ")]
        kept = [name for name, kind in acknowledged if kind in kinds]
        with Journal.open(ids[0], write=False) as journal:
            found = names(journal)
            assert journal.warnings == ()
        rest = iter(found)  # in order, and each once; what was not acknowledged may stand between
        assert all(name in rest for name in kept), (kept, found)
        once = [name for name in found if name != "trials"]
        assert len(set(once)) == len(once), found


@pytest.fixture
def plan(run_with_fault: Any, fault: Any) -> list[str]:
    """The storage operations of a session in which nothing fails."""
    done = run_with_fault(session, fault("kill", FOREVER))
    assert done.reported[-1] == "end"
    assert sum(line.startswith("ok ") for line in done.reported) == EVENTS
    assert len(done.operations) > 60 and set(done.operations) >= {"write", "sync", "rename", "sync_dir"}
    return done.operations


@pytest.mark.parametrize("kind", ["kill", "half"])
def test_kill_9_at_every_operation(
    home: Path, plan: list[str], run_with_fault: Any, fault: Any, kind: str
) -> None:
    for at, name in enumerate(plan, 1):
        if kind == "half" and name != "write":
            continue
        done = run_with_fault(session, fault(kind, at))
        assert done.status == -9 or len(done.operations) < at  # sizes of times vary a little
        check(home, done.reported)


@pytest.mark.parametrize("kind", ["power", "power, mixed"])
def test_power_loss_at_every_operation(
    home: Path, plan: list[str], run_with_fault: Any, fault: Any, kind: str
) -> None:
    for at in range(1, len(plan) + 1):
        done = run_with_fault(session, fault(kind, at))
        assert done.status == -9 or len(done.operations) < at  # sizes of times vary a little
        check(home, done.reported, kinds=("synced",))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_an_operation_that_fails_once_is_done_by_the_next_try(
    home: Path, plan: list[str], run_with_fault: Any, fault: Any, code: int
) -> None:
    for at in range(1, len(plan) + 1):
        done = run_with_fault(lambda report: session(report, attempts=2), fault(code, at))
        assert sum(line.startswith("ok ") for line in done.reported) == EVENTS, (at, plan[at - 1])
        check(home, done.reported)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_a_disk_that_fails_for_good_loses_nothing_acknowledged(
    home: Path, plan: list[str], run_with_fault: Any, fault: Any, code: int
) -> None:
    for at in range(1, len(plan) + 1):
        done = run_with_fault(session, fault(code, at, FOREVER))
        assert done.status == 0
        check(home, done.reported)


def test_space_that_returns_after_a_while(
    home: Path, plan: list[str], run_with_fault: Any, fault: Any
) -> None:
    for at in range(1, len(plan) + 1, 3):
        done = run_with_fault(lambda report: session(report, attempts=8), fault(errno.ENOSPC, at, 5))
        assert sum(line.startswith("ok ") for line in done.reported) == EVENTS
        check(home, done.reported)


def test_a_failed_sync_and_then_power_loss(
    home: Path, plan: list[str], run_with_fault: Any, fault: Any
) -> None:
    for at, name in enumerate(plan, 1):
        if name not in ("sync", "sync_dir"):
            continue
        done = run_with_fault(
            lambda report: session(report, attempts=2), fault(errno.EIO, at, power_after=True)
        )
        assert sum(line.startswith("ok ") for line in done.reported) == EVENTS
        check(home, done.reported)  # also the unsynced ones: the session was closed


def test_what_a_failed_append_left_is_gone_before_the_next(
    home: Path, run_with_fault: Any, fault: Any
) -> None:
    """The sync fails, and so does the cut right after it: a long line stays behind, and a short one follows."""

    def work(report: Callable[[str], None]) -> None:
        journal = Journal.create(Path("/work"))
        report(f"id {journal.id}")
        for name in ("long" * 100, "short", "end"):
            try:
                journal.append(Notice("info", name))
            except TransientError:
                report("failed")
            else:
                report(f"ok {name} synced")
        journal.close()

    clean = run_with_fault(work, fault("kill", FOREVER))
    last_sync = max(at for at, name in enumerate(clean.operations, 1) if name == "sync")
    for at in range(last_sync - 5, last_sync + 1):
        done = run_with_fault(work, fault(errno.EIO, at, 2))
        assert "failed" in done.reported
        with Journal.open(done.reported[0][3:], write=False) as journal:
            assert len(list(journal.read())) == 3 and journal.warnings == ()
        check(home, done.reported)
