from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

from engine.errors import CheckpointError, ConfigError
from engine.prompt import edits
from engine.train import shards
from engine.train.bugs import record, sandbox, trace
from engine.train.bugs.record import Record
from engine.train.bugs.runner import Runner
from engine.train.bugs.source import parse
from engine.train.bugs.traced import traced
from engine.train.corpus.files import Document

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are those of POSIX")
TEXT = '''"""Numbers."""


def total(values, start=0):
    """Their sum.

    >>> numbers = [1, 2, 3]
    >>> total(numbers)
    6
    """
    for value in values:
        if value < 0:
            raise ValueError("below zero")
        start += value
    return start


class Steps:
    def __init__(self, first=1):
        self.first = first

    def count(self, n: int):
        """How many steps there are."""
        steps = self.first
        for step in range(n - 1):
            steps += step + 1
        return steps
'''
DOCUMENT = Document("made", "numbers_made_up.py", "python", TEXT)
_WORD, _TEXTS = re.compile(r"[A-Za-z_]+"), re.compile(r"'[^']*'")
UNSAFE = not sandbox.available()


def found_in(folder: Path) -> list[Record]:
    trace.lay_out([DOCUMENT], folder / "corpus")
    with Runner(folder, unsafe=UNSAFE) as runner:
        return [
            Record(DOCUMENT, function, bug)
            for function, bugs in trace.records(runner, DOCUMENT, random.Random(3), 12)
            for bug in bugs
        ]


@pytest.fixture(scope="module")
def records(tmp_path_factory) -> list[Record]:
    return found_in(tmp_path_factory.mktemp("traced"))


def test_bugs_that_show_are_told_as_they_were_seen(records):
    assert {found.function.name for found in records} == {"total", "count"}
    lines = TEXT.split("\n")
    for found in records:
        text = "\n".join(lines[found.function.first : found.function.last])
        assert parse(found.bug.put(text)) is not None and found.bug.put(text) != text
        assert found.bug.failure.strip() and found.bug.thinking.endswith("\n")
    asserted = 0
    for found in records:
        first = found.bug.failure.split("\n")[0].removeprefix("> assert ")
        used = set(_WORD.findall(_TEXTS.sub("", first)))
        if found.bug.kind != "value" or not first.startswith("total(") or used - {"total", "start", "None"}:
            continue
        names: dict = {}
        text = "\n".join(lines[found.function.first : found.function.last])
        exec(found.bug.put(text), names)
        assert not eval(first, names)
        exec(TEXT, names)
        assert eval(first, names)
        asserted += 1
    assert asserted


def test_the_same_seed_tells_the_same(records, tmp_path):
    assert found_in(tmp_path) == records


def test_records_are_read_as_written(records, tmp_path):
    path = tmp_path / "records.xz"
    record.write(path, [record.line(found.function, [found.bug]) for found in records])
    read = record.read(path, [DOCUMENT])
    assert len(read) == len(records) and all(found in records for found in read)
    with pytest.raises(CheckpointError, match="other files"):
        record.read(path, [Document("made", DOCUMENT.path, "python", f"\n{TEXT}")])
    path.write_bytes(b"other")
    with pytest.raises(CheckpointError, match="no records"):
        record.read(path, [DOCUMENT])


@pytest.mark.parametrize(
    ("old", "new"), [("abc", "abd"), ("aa", "a"), ("", "x"), ("a(b)", "a((b))"), ("x", "")]
)
def test_a_difference_put_into_a_text_gives_the_other(old, new):
    bug = record.Bug(*record.difference(old, new), "value", "", "")
    assert bug.put(old) == new


def test_questions_say_what_failed_and_where_nothing_is_wrong_nothing_changes(records):
    right = wrong = 0
    for seed in range(80):
        example = traced(records, DOCUMENT, random.Random(seed))
        if example is None:
            continue
        text = "".join(piece.segment for piece in example if isinstance(piece.segment, str))
        assert "failed: " in text
        answer = [piece.segment for piece in example if piece.learn and isinstance(piece.segment, str)][-3]
        right += edits.parse(str(answer)) == []
        wrong += edits.parse(str(answer)) != []
    assert wrong > right > 0
    assert traced([], DOCUMENT, random.Random(1)) is None


def test_a_corpus_is_run_by_one_command_that_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    shards.write(tmp_path / "shards", "train", [DOCUMENT])
    out = tmp_path / "traced.xz"
    words = ["trace", str(tmp_path / "shards"), str(out), "--mutants", "4", *["--unsafe"] * UNSAFE]
    monkeypatch.setattr(sys, "argv", words)
    assert trace.main() == 0
    found = record.read(out, [DOCUMENT])
    assert found and f"{len(found)} records of 2 functions" in capsys.readouterr().out
    # a part that was cut in the middle of a document is begun anew
    part = out.with_suffix(".part")
    part.write_text(part.read_text("utf-8")[:-1], "utf-8")
    assert trace.main() == 0
    assert record.read(out, [DOCUMENT]) == found


def test_without_a_sandbox_nothing_is_run_unless_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="--unsafe"):
        Runner(tmp_path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "import subprocess\n"),
        ("a.py", "def f():\n    from threading import Thread\n"),
        ("a.py", "x = 1\r\n"),
        ("a.py", "x = 1\n\f\n"),
        ("tests/test_a.py", "x = 1\n"),
        ("a.pyi", "x: int\n"),
    ],
)
def test_what_has_nothing_to_assert_is_left(path, text):
    assert not trace.fit(Document("made", path, "python", text))
    assert trace.fit(DOCUMENT)
