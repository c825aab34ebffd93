from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.session import record
from deskagent.session.event import Unknown
from deskagent.session.events import (
    CandidatesTried,
    CommandResult,
    Notice,
    Request,
    StateChanged,
    TestFailure,
    TestsObserved,
    Trial,
)

ANY_TEXT = st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF))  # lone surrogates too


def there_and_back(event: object) -> object:
    line = record.encode(7, event)  # type: ignore[arg-type]
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    envelope = record.decode_line(line)
    assert envelope is not None and envelope.seq == 7
    return record.decode_event(envelope.payload)


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT, st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3))
def test_any_text_comes_back_as_it_was(text: str, other: str, options: dict[str, str]) -> None:
    for event in (
        Request(text, options),
        CommandResult("1", "exited", 0, 1.5, head=text, tail=other),
        TestsObserved("pytest", "pytest -q", 1, 2, (TestFailure(other, message=text),)),
        CandidatesTried((Trial("k", "o", text, 1, other, "red"),)),
    ):
        assert there_and_back(event) == event


@pytest.mark.parametrize(
    "text", ["\0", "\u2028\u2029\x85", "\udc80\ud800", "\x1a", "\x1a001a", "\\u001a", "😀"]
)
def test_difficult_characters(text: str) -> None:
    assert there_and_back(Notice("info", text)) == Notice("info", text)
    line = record.encode(1, Notice("info", text))
    assert json.loads(line)["payload"]["level"] == "info"  # any JSON reader can read a line


def test_a_line_of_50_megabytes() -> None:
    event = CommandResult("1", "exited", 0, 1.0, head="x" * (50 << 20))
    assert there_and_back(event) == event


def test_names_in_the_file_are_those_of_the_format() -> None:
    payload = json.loads(record.encode(1, StateChanged("plan", "act", "places_found")))["payload"]
    assert payload == {
        "type": "state_changed",
        "from": "plan",
        "to": "act",
        "why": "places_found",
        "time": 0.0,
    }


def test_paths_are_text_and_what_is_not_json_is_refused() -> None:
    assert there_and_back(Request("x", {"cwd": Path("/a/b")})) == Request("x", {"cwd": "/a/b"})
    with pytest.raises(TypeError, match="object"):
        record.encode(1, Request("x", {"bad": object()}))


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "of_the_future", "time": 5.0, "deep": {"a": [1, None, "\udc80\x1a"]}},
        {"type": "request", "text": {"parts": ["a"]}, "time": 5.0},  # a known type that has changed
        {"time": 5.0},
    ],
)
def test_what_is_not_known_is_kept_whole(payload: dict[str, object]) -> None:
    read = there_and_back(payload)
    assert read == Unknown(payload, time=5.0)
    assert there_and_back(read) == read


def test_new_fields_of_a_known_type_stay_in_the_payload() -> None:
    envelope = record.decode_line(
        record.encode(1, {"type": "notice", "level": "info", "text": "x", "new": 1})
    )
    assert envelope is not None
    assert record.decode_event(envelope.payload) == Notice("info", "x")
    assert record.decode_payload(envelope.payload)["new"] == 1


@settings(deadline=None)
@given(st.data())
def test_no_changed_byte_goes_unnoticed(data: st.DataObject) -> None:
    line = record.encode(12, Notice("info", "some text"))
    at = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != line[at]))
    changed = line[:at] + bytes([byte]) + line[at + 1 :]
    read = record.decode_line(changed)
    # JSON allows other bytes in a few places (`{\t`), none of which changes what is read.
    assert read is None or (read.seq, read.payload) == (12, record.decode_line(line).payload)  # type: ignore[union-attr]


@settings(deadline=None)
@given(st.binary())
def test_rubbish_is_no_record(rubbish: bytes) -> None:
    assert record.decode_line(rubbish + b"\n") is None
    assert record.decode_line(rubbish) is None


@pytest.mark.parametrize("payload", [b"[]", b"3", b'"x"', b"null", b"[" * 100_000 + b"]" * 100_000])
def test_a_payload_that_is_no_object_is_no_event(payload: bytes) -> None:
    assert record.decode_event(payload) is None
