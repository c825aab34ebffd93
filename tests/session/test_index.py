from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deskagent import paths
from deskagent.errors import UsageError
from deskagent.session import database, index, store
from deskagent.session.events import CommandResult, Notice, Request, SessionEnded, SessionStarted
from deskagent.session.journal import Journal


def session(title: str, cwd: str = "/work", *, end: str = "fixed", text: str = "") -> str:
    with Journal.create(Path(cwd)) as journal:
        journal.append(Request(title))
        journal.append(CommandResult("1", "exited", 1, 0.1, head=text))
        if end:
            journal.append(SessionEnded(end, 0 if end == "fixed" else 1))
        return journal.id


def db() -> Path:
    return paths.cache_dir() / "sessions.db"


def damage_nothing() -> None:
    pass


def remove() -> None:
    db().unlink()


def overwrite() -> None:
    db().write_bytes(b"this is no database" * 1000)


def garble() -> None:
    data = bytearray(db().read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    db().write_bytes(data)


def cut() -> None:
    db().write_bytes(db().read_bytes()[:5000])


def other_schema() -> None:
    with sqlite3.connect(db()) as other:
        other.execute("DROP TABLE session")
        other.execute("CREATE TABLE session (something TEXT)")
    other.close()


def other_version() -> None:
    with sqlite3.connect(db()) as other:
        other.execute("DROP TABLE line")
        other.execute("PRAGMA user_version=77")
    other.close()


def rubbish_rows() -> None:
    with sqlite3.connect(db()) as other:
        other.execute("UPDATE session SET summary = x'ff'")
    other.close()


def a_folder_in_its_place() -> None:
    db().unlink()
    db().mkdir()


DAMAGE = [
    damage_nothing, remove, overwrite, garble, cut, other_schema, other_version, rubbish_rows, a_folder_in_its_place,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda f: f.__name__)
def test_a_lost_or_damaged_database_changes_no_answer(home: Path, damage: Callable[[], None]) -> None:
    ids = [session(f"request {n}", text=f"needle{n} merge_sort") for n in range(3)]
    expected = index.sessions(), index.search("needle1")
    assert [s.id for s in expected[0]] == ids[::-1] and [h.session.id for h in expected[1]] == [ids[1]]
    for left in paths.cache_dir().glob("sessions.db-*"):
        left.unlink()
    damage()
    assert index.sessions() == expected[0]
    found = index.search("needle1")
    assert [(h.session, h.seq) for h in found] == [(h.session, h.seq) for h in expected[1]]
    assert "needle1" in found[0].excerpt


def test_a_locked_database_is_done_without(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = session("one")
    index.sessions()
    monkeypatch.setattr(database, "_WAIT", 0.05)
    other = sqlite3.connect(db(), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    second = session("two", text="needle")
    assert [s.id for s in index.sessions()] == [second, first]
    assert [h.session.id for h in index.search("needle")] == [second]
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written(home: Path) -> None:
    one = session("one", text="needle")
    paths.cache_dir().mkdir(mode=0o500)
    assert [s.id for s in index.sessions()] == [one]
    assert [h.session.id for h in index.search("needle")] == [one]


def test_it_follows_the_journals(home: Path) -> None:
    one = session("one", end="", text="needle")
    assert [s.status for s in index.sessions()] == ["interrupted"]
    with Journal.open(one) as journal:
        assert [s.status for s in index.sessions()] == ["running"]
        journal.append(SessionStarted("0.1.0", "/elsewhere", resumed=True))
        journal.append(Notice("info", "haystack"))
        assert [h.seq for h in index.search("haystack")] == [journal.seq]
        journal.append(SessionEnded("not_fixed", 1))
    (summary,) = index.sessions()
    assert (summary.status, summary.exit_code, summary.events, summary.cwd) == ("not_fixed", 1, 6, "/work")
    two = session("two", text="needle")
    assert [h.session.id for h in index.search("needle")] == [two, one]
    import shutil

    shutil.rmtree(store.sessions_dir() / one)
    assert [s.id for s in index.sessions()] == [two]
    assert [h.session.id for h in index.search("needle")] == [two]


def test_sessions_of_a_folder(home: Path, tmp_path: Path) -> None:
    here = session("here", str(tmp_path))
    below = session("below", str(tmp_path / "sub"))
    session("beside", str(tmp_path) + "2")
    assert [s.id for s in index.sessions(tmp_path)] == [below, here]
    newest = index.latest(tmp_path)
    assert newest is not None and newest.id == below
    assert index.latest(tmp_path / "nowhere") is None


@pytest.mark.parametrize("bypass", [False, True])
def test_words(home: Path, monkeypatch: pytest.MonkeyPatch, bypass: bool) -> None:
    one = session(
        "Mergesort loses the last element", text="def test_merge_sort(): Straße 'quoted' a-b NUL\0byte"
    )
    two = session("other \udc80 text", text="merge nothing, sort nothing")
    if bypass:
        paths.cache_dir().write_text("a file where the folder would be")

    def found(query: str) -> list[str]:
        return sorted({hit.session.id for hit in index.search(query)})

    assert found("mergesort") == [one]
    assert found("MERGE nothing") == [two]
    assert found("test_merge_sort") == found("merge_sort") == [one]
    assert found("elem") == [one]  # the beginning of a word
    assert found('"quoted" OR') == []
    assert found("quoted' a-b") == [one]
    assert found('NEAR( * ^ "byte') == []
    assert found("NUL byte") == [one]
    for nothing in ("", "  ", '"*"', "()"):
        with pytest.raises(UsageError, match="no word"):
            index.search(nothing)


def test_what_the_index_cannot_hold_it_still_lists(home: Path) -> None:
    hostile = session("\udc80\0\u202e\x1b[31m", "/caf\udce9")
    (summary,) = index.sessions()
    assert (summary.id, summary.title, summary.cwd) == (hostile, "\udc80\0\u202e\x1b[31m", "/caf\udce9")
    assert index.sessions()[0] == summary
    assert index.sessions(Path("/caf\udce9")) == [summary]


def test_a_session_that_cannot_be_read_is_listed_as_such(home: Path) -> None:
    from deskagent.session import record

    bad = session("one")
    (segment,) = store.segments(store.sessions_dir() / bad)
    segment.write_bytes(record.encode(0, {"type": "journal", "format": [9, 0]}) + segment.read_bytes())
    good = session("two", text="needle")
    listed = index.sessions()
    assert [(s.id, s.status) for s in listed] == [(good, "fixed"), (bad, "unreadable")]
    assert "newer deskagent" in listed[1].title
    assert len(index.search("needle")) == 1


def test_the_database_is_private(home: Path) -> None:
    session("one")
    index.sessions()
    for path in paths.cache_dir().iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_eight_processes_at_once(home: Path) -> None:
    ids = [session(f"n{n}", text="needle") for n in range(10)]
    gate = home / "gate"
    code = (
        "import fcntl, sys; g = open(sys.argv[1]); fcntl.flock(g, fcntl.LOCK_SH)\n"
        "from deskagent.session import index\n"
        "print(*[s.id for s in index.sessions()]); print(len(index.search('needle')))"
    )
    with gate.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        children = [
            subprocess.Popen([sys.executable, "-c", code, str(gate)], stdout=subprocess.PIPE, text=True)
            for _ in range(8)
        ]
    answers = {child.communicate()[0] for child in children}
    assert answers == {" ".join(reversed(ids)) + "\n10\n"}
    assert len(index.sessions()) == 10
