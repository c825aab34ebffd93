"""A journal is written and read, by one writer and many readers."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deskagent.errors import DeskagentError, TransientError, UsageError
from deskagent.session import store
from deskagent.session.events import (
    ApplyIntent,
    ApplyResult,
    FileChange,
    Notice,
    Request,
    SessionStarted,
    StepStarted,
)
from deskagent.session.journal import Journal


def test_what_is_written_is_read_in_order(home: Path) -> None:
    with Journal.create(Path("/work"), argv=["deskagent", "fix"], mode="ask") as journal:
        assert journal.append(Request("do it")) == 2
        assert [r.seq for r in journal.read()] == [1, 2]
        first, second = (r.event for r in journal.read())
    assert isinstance(first, SessionStarted) and (first.cwd, first.argv) == ("/work", ("deskagent", "fix"))
    assert isinstance(second, Request) and second.time > 0
    with Journal.open(journal.id) as again:
        assert again.append(Notice("info", "more")) == 3
        assert again.warnings == ()


def test_segments_follow_each_other_and_reading_can_begin_anywhere(home: Path, written, numbers) -> None:
    with written(30) as journal:
        segments = store.segments(journal.path)
        assert len(segments) > 5
        for after in range(33):
            assert numbers(journal, after) == list(range(after + 1, 32))
        assert journal.warnings == ()


def test_a_reader_follows_a_writer(home: Path, written, numbers) -> None:
    with written(3) as writer, Journal.open(writer.id, write=False) as reader:
        seen = numbers(reader)[-1]
        writer.append(StepStarted("1", "plan", "low"))
        assert numbers(reader, seen) == [seen + 1]


def test_a_reader_cannot_write_and_nobody_can_after_closing(home: Path, written, notices) -> None:
    with written(1) as journal, Journal.open(journal.id, write=False) as reader:
        with pytest.raises(DeskagentError, match="not open for writing"):
            reader.append(Notice("info", "x"))
        with pytest.raises(DeskagentError, match="reading only"):
            reader.blobs.put(b"x")
    with pytest.raises(DeskagentError, match="not open for writing"):
        journal.append(Notice("info", "x"))
    assert notices(journal) == ["0"]


def test_files_are_private(home: Path, written) -> None:
    with written(10) as journal:
        journal.blobs.put(b"x")
        for path in [journal.path, store.sessions_dir(), *journal.path.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_one_writer(home: Path, written, notices) -> None:
    with written(1) as journal:
        with pytest.raises(TransientError, match=f"in use by process {os.getpid()} "):
            Journal.open(journal.id)
        assert notices(Journal.open(journal.id, write=False)) == ["0"]
    Journal.open(journal.id).close()


def test_the_lock_ends_with_a_killed_process(home: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from deskagent.session.journal import Journal\n"
        "j = Journal.create(Path('/work')); print(j.id, flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    session = child.stdout.readline().strip()
    with pytest.raises(TransientError, match=str(child.pid)):
        Journal.open(session)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with Journal.open(session) as journal:
        assert journal.append(Notice("info", "x")) == 2


def test_a_fork_has_what_the_other_has_seen_but_its_changes(home: Path, written, notices) -> None:
    with written(3) as journal:
        name = journal.blobs.put(b"contents")
        (journal.path / "blobs" / ("0" * 64)).write_text("damaged")
        journal.append(ApplyIntent(id="a", files=(FileChange("f", None, name, 0o644),)))
        journal.append(ApplyResult(id="a", ok=True))
        journal.append(Notice("info", "last"))
        # Also while another process may write to it.
        with Journal.fork(Journal.open(journal.id, write=False)) as fork:
            assert fork.id != journal.id
            assert notices(fork) == ["0", "1", "2", "last"]
            assert fork.blobs.names() == [name] and fork.blobs.get(name) == b"contents"
            assert [r.event for r in fork.read()] == [
                r.event for r in journal.read() if not isinstance(r.event, ApplyIntent | ApplyResult)
            ]
            fork.append(Notice("info", "of its own"))
        assert notices(journal)[-1] == "last"


def test_eight_sessions_begun_at_once_are_eight(home: Path) -> None:
    begun = threading.Barrier(8)

    def create(_: int) -> str:
        begun.wait()
        with Journal.create(Path("/work")) as journal:
            return journal.id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(create, range(8)))
    assert len(set(ids)) == 8
    assert sorted(ids, reverse=True) == [folder.name for folder in store.folders()]


def test_ids_sort_by_time() -> None:
    times = [1e9 + n * 0.0003 for n in range(5000)] + [2e9]
    assert [store.new_id(t)[:-3] for t in times] == sorted(store.new_id(t)[:-3] for t in times)
    assert store.ID.fullmatch(store.new_id(1.9999999e9 + 0.9999))


def test_threads_share_a_journal(home: Path) -> None:
    with Journal.create(Path("/work"), segment_bytes=2000) as journal:
        with ThreadPoolExecutor(4) as pool:
            seqs = list(pool.map(lambda n: journal.append(Notice("info", str(n))), range(100)))
        assert sorted(seqs) == list(range(2, 102))
        found = {r.seq: r.event.text for r in journal.read() if isinstance(r.event, Notice)}
        assert found == {seq: str(n) for n, seq in enumerate(seqs)}


def test_only_a_session_is_opened(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for wrong in (str(tmp_path), tmp_path / "absent", "20200101T000000-abcdef", "", "../..", "nothing"):
        with pytest.raises(UsageError):
            Journal.open(wrong)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_beginning_of_an_id_is_enough_if_only_one_has_it(home: Path, written) -> None:
    with written(1) as one, written(1) as two:
        assert store.find(one.id) == one.path
        with pytest.raises(UsageError, match="2 sessions begin with"):
            store.find(one.id[:4])
        for end in range(len(one.id)):
            matches = [journal.path for journal in (one, two) if journal.id.startswith(one.id[: end + 1])]
            if len(matches) == 1:
                assert store.find(one.id[: end + 1]) == one.path
