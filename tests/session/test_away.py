"""Segments go elsewhere and come back; a store that fails, lies or is out of reach loses nothing, nor does a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from deskagent.agent.keeping import VIEWS, close
from deskagent.errors import TransientError, UsageError
from deskagent.session import away, database, index, kept, store
from deskagent.session.events import Notice, Request
from deskagent.session.history import History
from deskagent.session.journal import Journal

URL = "memory://logs"


@pytest.fixture(autouse=True)
def memory() -> Iterator[MemoryFileSystem]:
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def long(count: int = 40, size: int = 900, *, keep: bool = True) -> Path:
    with Journal.create(Path("/work"), segment_bytes=size) as journal:
        journal.append(Request("do it"))
        for number in range(count):
            journal.append(Notice("info", str(number), time=1.0))
        if keep:
            journal.keep(VIEWS)
        return journal.path


def texts(folder: Path) -> list[str]:
    with Journal.open(folder, write=False) as journal:
        found = [r.event.text for r in journal.read() if isinstance(r.event, Notice)]
        assert journal.warnings == ()
    return found


ALL = [str(number) for number in range(40)]


@pytest.mark.parametrize("place", ["memory://logs", "local"])
def test_they_go_and_come_back(home: Path, tmp_path: Path, place: str) -> None:
    folder, url = long(), place if place != "local" else (tmp_path / "far").as_uri()
    before = {path.name: path.read_bytes() for path in store.segments(folder)}
    assert away.roll(folder, url) == len(before) - 1 > 2
    assert [path.name for path in store.segments(folder)] == [max(before)]
    assert texts(folder) == ALL
    assert {path.name: path.read_bytes() for path in store.segments(folder)} == before
    assert not list(folder.glob("*.away"))
    assert away.roll(folder, url) == len(before) - 1  # what is there already is the same
    assert away.bring_back(folder) == len(before) - 1
    assert {path.name: path.read_bytes() for path in store.segments(folder)} == before


def test_a_session_is_opened_and_gone_on_with_without_them(home: Path, memory: MemoryFileSystem) -> None:
    folder = long()
    away.roll(folder, URL)
    there = dict(memory.store)
    memory.store.clear()  # as if it couldn't be reached
    with Journal.open(folder, segment_bytes=900) as journal:
        assert kept.view(journal, History).turns() == ()
        journal.append(Notice("info", "more", time=1.0))
        with pytest.raises(TransientError, match="can't be read at memory://"):
            list(journal.read())
    assert index.sessions()[0].title == "do it"
    memory.store.update(there)
    assert texts(folder) == [*ALL, "more"]


def test_without_what_is_kept_they_come_back_first(home: Path, memory: MemoryFileSystem) -> None:
    folder = long(keep=False)
    away.roll(folder, URL)
    there = dict(memory.store)
    memory.store.clear()
    with pytest.raises(TransientError, match="Segment 1 of session"):
        Journal.open(folder)
    memory.store.update(there)
    with Journal.open(folder) as journal:
        assert journal.seq == 42 and journal.warnings == ()


def test_what_comes_back_changed_is_refused(home: Path, memory: MemoryFileSystem) -> None:
    folder = long()
    away.roll(folder, URL)
    name = min(memory.store)
    whole = memory.cat_file(name)
    for other in (whole[:-1], whole.replace(b"info", b"inf0"), b""):
        memory.pipe_file(name, other)
        with pytest.raises(TransientError, match="not what was sent"):
            texts(folder)
    memory.pipe_file(name, whole)
    assert texts(folder) == ALL


class Failing(MemoryFileSystem):
    """Fails at one kind of work, or keeps something else than it is given."""

    protocol = "failing"
    cachable = False
    what = ""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        if Failing.what == "makedirs":
            raise OSError("no network")
        super().makedirs(path, exist_ok)

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:
        if Failing.what == mode:
            raise RuntimeError("403 of the store")
        return super()._open(path, mode, **more)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        return super().cat_file(path, start, end, **more)


@pytest.mark.parametrize("what", ["makedirs", "wb", "rb"])
def test_a_store_that_fails_takes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    fsspec.register_implementation("failing", Failing, clobber=True)
    folder = long()
    before = store.segments(folder)
    monkeypatch.setattr(Failing, "what", what)
    with pytest.raises(TransientError) as failed:
        away.roll(folder, "failing://logs")
    assert "Nothing is lost" in failed.value.hint
    assert store.segments(folder) == before and not list(folder.glob("*.away"))
    assert texts(folder) == ALL


def test_a_store_that_keeps_something_else_takes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = long()
    monkeypatch.setattr(away, "_get", lambda url, what: b"something else")
    with pytest.raises(TransientError, match="not what was sent"):
        away.roll(folder, URL)
    assert texts(folder) == ALL and not list(folder.glob("*.away"))


@pytest.mark.parametrize("kind", ["half", "power, mixed"])
def test_a_kill_at_every_operation(
    home: Path, tmp_path: Path, run_with_fault: Callable[..., Any], fault: Callable[..., Any], kind: str
) -> None:
    url = (tmp_path / "far").as_uri()

    def work(report: Callable[[str], None]) -> None:
        folder = long(12)
        report(f"id {folder.name}")
        away.roll(folder, url)
        report("rolled")
        away.bring_back(folder)
        report("back")

    operations = run_with_fault(work, fault("kill", 1 << 30)).operations
    for at in range(len(operations) // 2, len(operations) + 1):
        run = run_with_fault(work, fault(kind, at))
        names = [line.split()[1] for line in run.reported if line.startswith("id ")]
        if not names:
            continue
        found = texts(store.sessions_dir() / names[0])
        assert found == ALL[:12]


def test_the_setting_holds_at_the_end_of_a_run_and_a_bad_one_is_refused(
    home: Path, memory: MemoryFileSystem
) -> None:
    assert away.where() == ""
    for url in ("nothing-such://x", "s3://bucket/x"):
        with pytest.raises(UsageError, match="can't be used"):
            away.choose(url)
    away.choose(URL)
    folder = long()
    with Journal.open(folder) as journal:
        close(journal)
    assert len(store.segments(folder)) == 1
    assert texts(folder) == ALL
    away.choose("")
    with Journal.open(folder) as journal:
        close(journal)
    assert len(store.segments(folder)) > 1


def test_search_finds_what_is_away(home: Path) -> None:
    folder = long()
    assert [hit.seq for hit in index.search("17")] == [20]
    away.roll(folder, URL)
    assert [hit.seq for hit in index.search("17")] == [20]
    assert len(store.segments(folder)) == 1  # by the index alone
    (path,) = [database._path()]
    path.unlink()
    assert [hit.seq for hit in index.search("17")] == [20]
