"""The end of a long session, read without what lies before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from deskagent.session import store
from deskagent.session.events import Notice
from deskagent.session.journal import Journal


def long_session(count: int) -> Path:
    with Journal.create(Path("/work"), segment_bytes=2000) as journal:
        for number in range(count):
            journal.append(Notice(level="info", text=str(number)))
        return journal.path


@pytest.mark.parametrize("wanted", [1, 7, 39, 500])
def test_the_last_records_in_order(home: Path, wanted: int) -> None:
    folder = long_session(40)
    with Journal.open(folder, write=False) as journal:
        every = [record.seq for record in journal.read()]
        assert [record.seq for record in journal.tail(wanted)] == every[-wanted:]


def test_segments_before_them_are_not_read(home: Path) -> None:
    folder = long_session(60)
    first, *_, last = store.segments(folder)
    assert first != last
    first.write_bytes(b"rubbish\n")
    with Journal.open(folder, write=False) as journal:
        assert [record.event.text for record in journal.tail(2)] == ["58", "59"]
        assert journal.warnings == ()


def test_an_empty_last_segment_is_passed_over(home: Path) -> None:
    folder = long_session(40)
    number = store.number(store.segments(folder)[-1]) + 1
    (folder / f"{number:06}.jsonl").write_bytes(b'{"seq":0,"crc"')
    with Journal.open(folder, write=False) as journal:
        assert [record.event.text for record in journal.tail(1)] == ["39"]
