from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from engine.errors import CheckpointError
from engine.prompt import edits
from engine.train import shards
from engine.train.bugs import child, inputs, record, trace
from engine.train.bugs.said import said
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


def count(n):
    """How many steps there are."""
    steps = 1
    for step in range(n - 1):
        steps += step + 1
    return steps
'''
DOCUMENT = Document("made", "numbers_made_up.py", "python", TEXT)


@pytest.fixture(scope="module")
def records(tmp_path_factory) -> list[record.Record]:
    root = tmp_path_factory.mktemp("package")
    (root / DOCUMENT.path).write_text(TEXT)
    return list(trace.records(root, DOCUMENT, random.Random(3), 12))


def test_bugs_that_show_are_told_as_they_were_seen(records):
    assert {found.function for found in records} == {"total", "count"}
    for found in records:
        whole = "\n".join([*found.lines[: found.first], found.text, *found.lines[found.last :]])
        assert parse(whole) is not None and whole != TEXT
        assert found.failure.strip()
    values = [
        found for found in records if found.failure.startswith("> assert") and "E + where" in found.failure
    ]
    assert values
    for found in values:
        names: dict = {"numbers": [1, 2, 3]}
        exec(found.text, names)
        asserted = found.failure.split("\n")[0].removeprefix("> assert ")
        assert not eval(asserted, names)
        exec(TEXT, names)
        assert eval(asserted, names)


def test_the_same_seed_tells_the_same(records, tmp_path):
    assert list(trace.records(tmp_path, DOCUMENT, random.Random(3), 12)) == records


def test_what_never_ends_writes_or_dies_is_ended(tmp_path):
    text = "def f(n):\n    return n\n"
    mutants = [
        "    while n: n = 1\n",
        f"    open({str(tmp_path / 'x')!r}, 'w').write('a' * 9)\n",
        "    return n + 1\n",
    ]
    mutants.append("    import os; os.kill(os.getpid(), 9)\n")
    given = {"root": str(tmp_path), "module": "m", "path": "m.py", "text": text}
    whole = [text.replace("    return n\n", mutant) for mutant in mutants]
    given["functions"] = [{"name": "f", "groups": [["f(1)"]], "mutants": whole}]
    done = subprocess.run(
        [sys.executable, "-I", child.__file__],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=300,
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["mutant"], each["kind"]) for each in told if each["mutant"] != 1] == [
        (0, "timeout"),
        (2, "value"),
    ]
    assert not (tmp_path / "x").exists() or (tmp_path / "x").stat().st_size == 0


def test_records_are_read_as_written(records, tmp_path):
    record.write(tmp_path / "records.xz", records)
    assert record.read(tmp_path / "records.xz") == records
    (tmp_path / "records.xz").write_bytes(b"other")
    with pytest.raises(CheckpointError, match="no records"):
        record.read(tmp_path / "records.xz")


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


@pytest.mark.parametrize(
    ("seen", "failure"),
    [
        (
            {"kind": "value", "source": "f(3)", "expected": "9", "actual": "6"},
            "> assert f(3) == 9\nE assert 6 == 9\nE + where 6 = f(3)",
        ),
        (
            {"kind": "value", "source": "f(3)", "expected": "False", "actual": "True"},
            "> assert not f(3)\nE assert not True\nE + where True = f(3)",
        ),
        (
            {
                "kind": "error",
                "source": "f(3)",
                "frames": ["a = x[1]"],
                "names": ["f"],
                "error": "IndexError: no",
            },
            "> f(3)\n> a = x[1]\nE IndexError: no",
        ),
        (
            {"kind": "raises", "source": "f(3)", "expected": "KeyError"},
            "> with pytest.raises(KeyError):\nf(3)\nE Failed: DID NOT RAISE <class 'KeyError'>",
        ),
        ({"kind": "timeout", "source": "f(3)"}, "> f(3)\nE Failed: Timeout (>2.0s) from pytest-timeout."),
    ],
)
def test_words_are_those_of_the_test_runner(seen, failure):
    assert failure in {said(seen, "a.py", random.Random(seed))[0] for seed in range(20)}


def test_a_corpus_is_run_by_one_command_that_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    shards.write(tmp_path / "shards", "train", [DOCUMENT])
    out = tmp_path / "traced.xz"
    monkeypatch.setattr(sys, "argv", ["trace", str(tmp_path / "shards"), str(out), "--mutants", "4"])
    assert trace.main() == 0
    found = record.read(out)
    assert found and f"{len(found)} records of 2 functions" in capsys.readouterr().out
    # a part that was cut in the middle of a document is begun anew
    part = out.with_suffix(".part")
    part.write_text(part.read_text("utf-8")[:-1], "utf-8")
    assert trace.main() == 0
    assert record.read(out) == found


@pytest.mark.parametrize(
    "text", ["import os\n", "from shutil import rmtree\n", "def f(p):\n    return open(p)\n"]
)
def test_what_could_do_harm_is_not_run(text):
    assert not trace.harmless(Document("made", "a.py", "python", text))
    assert trace.harmless(DOCUMENT)


def test_calls_fit_parameters():
    tree = parse("def f(n, text, *, a=1): pass\nclass A:\n    def g(self): pass\n")
    assert tree is not None
    (function, own), (method, of_class) = inputs.functions(tree)
    assert (own, of_class) == (False, True)
    calls = inputs.groups(function, random.Random(1), method=False)
    assert len(calls) > 10 and all(len(each) == 1 and each[0].startswith("f(") for each in calls)
    assert inputs.groups(method, random.Random(1), method=True) == []
