from __future__ import annotations

import errno
import json
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
from deskagent.session import files, record, store
from deskagent.session.events import (
    ApplyIntent,
    ApplyResult,
    FileChange,
    Notice,
    Request,
    SessionStarted,
    StepStarted,
    Unknown,
)
from deskagent.session.journal import Journal

OURS = Path(__file__).parent / "data"


def notices(journal: Journal, after: int = 0) -> list[str]:
    return [r.event.text for r in journal.read(after) if isinstance(r.event, Notice)]


def numbers(journal: Journal, after: int = 0) -> list[int]:
    return [r.seq for r in journal.read(after)]


def written(count: int, segment_bytes: int = 600) -> Journal:
    journal = Journal.create(Path("/work"), segment_bytes=segment_bytes)
    for index in range(count):
        journal.append(Notice("info", str(index), time=1.0))
    return journal


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


def test_segments_follow_each_other_and_reading_can_begin_anywhere(home: Path) -> None:
    with written(30) as journal:
        segments = store.segments(journal.path)
        assert len(segments) > 5
        for after in range(33):
            assert numbers(journal, after) == list(range(after + 1, 32))
        assert journal.warnings == ()


def test_a_reader_follows_a_writer(home: Path) -> None:
    with written(3) as writer, Journal.open(writer.id, write=False) as reader:
        seen = numbers(reader)[-1]
        writer.append(StepStarted("1", "plan", "low"))
        assert numbers(reader, seen) == [seen + 1]


def test_a_reader_cannot_write_and_nobody_can_after_closing(home: Path) -> None:
    with written(1) as journal, Journal.open(journal.id, write=False) as reader:
        with pytest.raises(DeskagentError, match="not open for writing"):
            reader.append(Notice("info", "x"))
        with pytest.raises(DeskagentError, match="reading only"):
            reader.blobs.put(b"x")
    with pytest.raises(DeskagentError, match="not open for writing"):
        journal.append(Notice("info", "x"))
    assert notices(journal) == ["0"]


def test_files_are_private(home: Path) -> None:
    with written(10) as journal:
        journal.blobs.put(b"x")
        for path in [journal.path, store.sessions_dir(), *journal.path.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_one_writer(home: Path) -> None:
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


def test_a_fork_has_what_the_other_has_seen_but_its_changes(home: Path) -> None:
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


def test_the_tail_cut_at_every_byte(home: Path) -> None:
    with written(4, segment_bytes=10_000) as journal:
        (segment,) = store.segments(journal.path)
    whole = segment.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]  # ends[0] is the header's
    for cut in range(len(whole) + 1):
        segment.write_bytes(whole[:cut])
        complete = sum(end <= cut for end in ends[1:])
        with Journal.open(journal.path, write=False) as reader:
            assert numbers(reader) == list(range(1, complete + 1))
        with Journal.open(journal.path) as writer:
            assert [w.kind for w in writer.warnings] == ([] if cut in (0, *ends) else ["torn"])
            assert writer.append(Notice("info", "new")) == complete + 1
            assert numbers(writer) == list(range(1, complete + 2))
            assert writer.warnings == writer._opening
        torn = segment.with_name(segment.name + ".torn")
        if torn.exists():
            assert torn.read_bytes() == whole[max([0, *(e for e in ends if e <= cut)]) : cut]
            torn.unlink()


def test_zeros_and_rubbish_at_the_end_are_a_torn_tail(home: Path) -> None:
    with written(2, segment_bytes=10_000) as journal:
        (segment,) = store.segments(journal.path)
    rubbish = b"\0" * 300 + b"\n{}\nnot a record\n\xff\xfe"
    with segment.open("ab") as file:
        file.write(rubbish)
    with Journal.open(journal.id) as again:
        assert notices(again) == ["0", "1"]
        assert [w.kind for w in again.warnings] == ["torn"]
    assert segment.with_name("000001.jsonl.torn").read_bytes() == rubbish


@pytest.mark.parametrize("write", [True, False])
def test_a_bad_record_in_the_middle_is_set_apart(home: Path, write: bool) -> None:
    with written(9) as journal:
        segment = store.segments(journal.path)[1]
    lines = segment.read_bytes().splitlines(keepends=True)
    bad = lines[1].replace(b"info", b"inXo")
    segment.write_bytes(b"".join([lines[0], bad, *lines[2:]]))
    missing = json.loads(lines[1])["seq"]
    with Journal.open(journal.id, write=write) as again:
        assert numbers(again) == [n for n in range(1, 11) if n != missing]
        assert sorted({w.kind for w in again.warnings}) == ["bad", "gap"]
        assert any(f"record {missing} is missing" in w.text for w in again.warnings)
    if write:
        assert segment.with_name(segment.name + ".bad").read_bytes() == bad
        with Journal.open(journal.id) as third:
            assert numbers(third)[-1] == 10
            assert [w.kind for w in third.warnings] == ["gap"]  # mended, and still said to lack a record


def test_a_damaged_header_costs_no_record(home: Path) -> None:
    with written(9) as journal:
        segment = store.segments(journal.path)[-1]
    segment.write_bytes(b"?" + segment.read_bytes())
    with Journal.open(journal.id) as again:
        assert numbers(again) == list(range(1, 11))
        assert again.append(Notice("info", "x")) == 11
    with Journal.open(journal.id) as third:
        assert numbers(third) == list(range(1, 12)) and third.warnings == ()


def test_a_missing_segment_and_one_that_is_there_twice_are_said(home: Path) -> None:
    with written(12) as journal:
        segments = store.segments(journal.path)
    copy = segments[-1].with_name("000099.jsonl")
    copy.write_bytes(segments[-1].read_bytes())
    lost = [json.loads(line)["seq"] for line in segments[1].read_bytes().splitlines()][1:]
    segments[1].unlink()
    with Journal.open(journal.id, write=False) as reader:
        assert numbers(reader) == [n for n in range(1, 14) if n not in lost]
        assert {w.kind for w in reader.warnings} == {"gap", "duplicate"}


def test_a_segment_that_cannot_be_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with written(30) as journal:
        segments = store.segments(journal.path)
    real = files.open_read

    def failing(path: Path):
        if path == segments[1]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path)

    monkeypatch.setattr(files, "open_read", failing)
    with Journal.open(journal.id) as again:
        assert numbers(again)[-1] == 31
        assert "unreadable" in {w.kind for w in again.warnings}
        assert again.append(Notice("info", "x")) == 32


def test_foreign_files_are_left_alone(home: Path) -> None:
    with written(3) as journal:
        pass
    os.mkfifo(journal.path / "000077.jsonl")
    (journal.path / "notes.txt").write_text("mine")
    (journal.path / "000088.jsonl").mkdir()
    root = store.sessions_dir()
    (root / "README").write_text("mine")
    (root / "20200101T000000-abcdef").write_text("a file")
    (root / "20200101T000000-abcde0").mkdir()
    with Journal.open(journal.id) as again:
        assert numbers(again) == [1, 2, 3, 4] and again.warnings == ()
    assert [folder.name for folder in store.folders()] == [journal.id]


def test_only_a_session_is_opened(home: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for wrong in (str(tmp_path), tmp_path / "absent", "20200101T000000-abcdef", "", "../..", "nothing"):
        with pytest.raises(UsageError):
            Journal.open(wrong)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_the_beginning_of_an_id_is_enough_if_only_one_has_it(home: Path) -> None:
    with written(1) as one, written(1) as two:
        assert store.find(one.id) == one.path
        with pytest.raises(UsageError, match="2 sessions begin with"):
            store.find(one.id[:4])
        for end in range(len(one.id)):
            matches = [journal.path for journal in (one, two) if journal.id.startswith(one.id[: end + 1])]
            if len(matches) == 1:
                assert store.find(one.id[: end + 1]) == one.path


def put_header(segment: Path, version: list[int]) -> None:
    lines = segment.read_bytes().splitlines(keepends=True)
    head = json.loads(lines[0])["payload"] | {"format": version, "more": "fields"}
    segment.write_bytes(b"".join([record.encode(0, head), *lines[1:]]))


def test_a_newer_format_is_refused_and_left_as_it_was(home: Path) -> None:
    with written(2) as journal:
        segment = store.segments(journal.path)[-1]
    put_header(segment, [2, 0])
    before = segment.read_bytes()
    for write in (True, False):
        with (
            pytest.raises(UsageError, match="newer deskagent"),
            Journal.open(journal.id, write=write) as again,
        ):
            numbers(again)
    assert segment.read_bytes() == before


@pytest.mark.parametrize("version", [[1, 7], [0, 9]])
def test_other_minor_and_older_versions_open_and_go_on_in_a_segment_of_their_own(
    home: Path, version: list[int]
) -> None:
    with written(2, segment_bytes=10_000) as journal:
        (segment,) = store.segments(journal.path)
    put_header(segment, version)
    with segment.open("ab") as file:
        file.write(record.encode(4, {"type": "of_the_future", "x": "\udc80"}))
    before = segment.read_bytes()
    with Journal.open(journal.id) as again:
        assert numbers(again) == [1, 2, 3, 4]
        assert [r.event for r in again.read(3)] == [Unknown({"type": "of_the_future", "x": "\udc80"})]
        assert again.append(Notice("info", "x")) == 5
        assert numbers(again) == [1, 2, 3, 4, 5] and again.warnings == ()
    assert segment.read_bytes() == before


def test_a_session_of_version_1_opens_forever() -> None:
    """The file is never to be changed: it is what users have on their disks."""
    with Journal.open(OURS / "20261202T010203-abc123", write=False) as journal:
        events = [r.event for r in journal.read()]
    assert journal.warnings == ()
    assert not any(isinstance(event, Unknown) for event in events[:-1])
    assert isinstance(events[-1], Unknown)
    assert len({type(event) for event in events}) == 16


def test_a_disk_that_is_really_full(home: Path) -> None:
    """/dev/full takes the place of the segment: every write fails with ENOSPC."""
    with written(1, segment_bytes=10_000) as journal:
        assert journal._writer is not None
        full, real = os.open("/dev/full", os.O_RDWR), journal._writer._fd
        kept = os.dup(real)
        os.dup2(full, real)
        with pytest.raises(TransientError, match="No space left") as caught:
            journal.append(Notice("info", "lost"))
        assert "full" in caught.value.hint and journal.seq == 2
        os.dup2(kept, real)
        assert journal.append(Notice("info", "kept")) == 3
        os.close(full)
        os.close(kept)
        assert notices(journal) == ["0", "kept"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_store_can_be_read(home: Path) -> None:
    with written(1) as journal:
        pass
    for path in [*journal.path.iterdir(), journal.path, store.sessions_dir()]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert notices(Journal.open(journal.id, write=False)) == ["0"]
        with pytest.raises(UsageError, match="Permission denied"):
            Journal.open(journal.id)
        with pytest.raises(UsageError, match="Permission denied"):
            Journal.create(Path("/work"))
    finally:
        for path in (store.sessions_dir(), journal.path):
            path.chmod(0o700)
