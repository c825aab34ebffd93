"""Journals that were cut, damaged, left by other versions, or lie where nothing can be written."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from deskagent.errors import TransientError, UsageError
from deskagent.session import files, record, store
from deskagent.session.event import Unknown
from deskagent.session.events import Notice
from deskagent.session.journal import Journal

OURS = Path(__file__).parent.parent / "data"


def test_the_tail_cut_at_every_byte(home: Path, written, numbers) -> None:
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


def test_zeros_and_rubbish_at_the_end_are_a_torn_tail(home: Path, written, notices) -> None:
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
def test_a_bad_record_in_the_middle_is_set_apart(home: Path, write: bool, written, numbers) -> None:
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


def test_a_damaged_header_costs_no_record(home: Path, written, numbers) -> None:
    with written(9) as journal:
        segment = store.segments(journal.path)[-1]
    segment.write_bytes(b"?" + segment.read_bytes())
    with Journal.open(journal.id) as again:
        assert numbers(again) == list(range(1, 11))
        assert again.append(Notice("info", "x")) == 11
    with Journal.open(journal.id) as third:
        assert numbers(third) == list(range(1, 12)) and third.warnings == ()


def test_a_missing_segment_and_one_that_is_there_twice_are_said(home: Path, written, numbers) -> None:
    with written(12) as journal:
        segments = store.segments(journal.path)
    copy = segments[-1].with_name("000099.jsonl")
    copy.write_bytes(segments[-1].read_bytes())
    lost = [json.loads(line)["seq"] for line in segments[1].read_bytes().splitlines()][1:]
    segments[1].unlink()
    with Journal.open(journal.id, write=False) as reader:
        assert numbers(reader) == [n for n in range(1, 14) if n not in lost]
        assert {w.kind for w in reader.warnings} == {"gap", "duplicate"}


def test_a_segment_that_cannot_be_read(home: Path, monkeypatch: pytest.MonkeyPatch, written, numbers) -> None:
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


def test_foreign_files_are_left_alone(home: Path, written, numbers) -> None:
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


def put_header(segment: Path, version: list[int]) -> None:
    lines = segment.read_bytes().splitlines(keepends=True)
    head = json.loads(lines[0])["payload"] | {"format": version, "more": "fields"}
    segment.write_bytes(b"".join([record.encode(0, head), *lines[1:]]))


def test_a_newer_format_is_refused_and_left_as_it_was(home: Path, written, numbers) -> None:
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
    home: Path, version: list[int], written, numbers
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


def test_a_disk_that_is_really_full(home: Path, written, notices) -> None:
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
def test_a_read_only_store_can_be_read(home: Path, written, notices) -> None:
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
