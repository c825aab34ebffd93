"""The benchmark's own cases: all of them in form, a sample by running their tests (`make bench` runs all)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import check
import formats
import pytest
from judge import right

CASES = Path(check.__file__).resolve().parent
FOLDERS = sorted(file.parent for file in CASES.glob("*/case.json"))
KINDS = {
    *(
        "attribute",
        "arguments",
        "condition",
        "guard",
        "base-case",
        "return",
        "slice",
        "wrap",
        "insert",
        "remove",
    ),
    *(
        "move",
        "borrow",
        "collection",
        "string",
        "regex",
        "exception",
        "default",
        "await",
        "bytes",
        "two-edits",
    ),
    *("comparison", "operator", "constant", "variable", "order", "negation"),
}


def by_hash(folder: Path) -> str:
    return hashlib.sha256(b"sample " + folder.name.encode()).hexdigest()


SAMPLE = sorted(FOLDERS, key=by_hash)[:5]


def test_there_are_enough():
    repositories = [folder for folder in FOLDERS if folder.name.startswith("repo-")]
    assert len(repositories) >= 11
    assert len(FOLDERS) - len(repositories) >= 66
    cases = [formats.load_case(folder) for folder in FOLDERS]
    assert {case.kind for case in cases} == KINDS
    assert 0.25 <= sum(case.set == "held" for case in cases) / len(cases) <= 0.42


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_form(folder):
    case = formats.load_case(folder)
    meta = json.loads((folder / "case.json").read_text("utf-8"))
    assert set(meta) - {"git"} == {"name", "kind", "set", "request", "test", "failing"}
    assert case.name == folder.name
    assert case.set == formats.set_of(case.name)
    assert case.failing
    buggy = formats.files_under(folder / "buggy")
    assert len(buggy) >= 2
    for answer in case.answers:
        assert answer.keys() <= buggy.keys()
        lines = [line for path in answer for line in check.changed_lines(buggy[path], answer[path])]
        assert 0 < max(sum(line[0] == sign for line in lines) for sign in "+-") <= check.MOST_LINES
        assert right(buggy, {**buggy, **answer}, case.answers)
    assert not right(buggy, buggy, case.answers)


@pytest.mark.parametrize("folder", SAMPLE, ids=lambda folder: folder.name)
def test_sound(folder):
    assert check.problems(formats.load_case(folder), folder) == []


def test_line_endings_and_encodings_are_kept():
    crlf = (CASES / "repo-crlf-inventory/buggy/inventory/parts.py").read_bytes()
    assert crlf.count(b"\r\n") == crlf.count(b"\n") > 5
    assert (CASES / "repo-bom-subtitles/buggy/subs/times.py").read_bytes().startswith(b"\xef\xbb\xbf")
    with pytest.raises(UnicodeDecodeError):
        (CASES / "repo-cp1252-letters/buggy/letters/greeting.py").read_text("utf-8")


def test_an_unsound_case_is_noticed(tmp_path):
    folder = tmp_path / "sum"
    for tree, sign in (("buggy", "+"), ("fixed", "-")):
        (folder / tree).mkdir(parents=True)
        (folder / tree / "calc.py").write_text(f"def minus(a, b):\n    return a {sign} b\n")
    (folder / "buggy/test_calc.py").write_text(
        "from calc import minus\n\ndef test_a():\n    assert minus(3, 1) == 2\n\n"
        "def test_b():\n    assert minus(3, 1) == 4\n\ndef test_c():\n    assert minus(1, 0) == 1\n"
    )
    meta = {"name": "sum", "kind": "operator", "set": formats.set_of("sum"), "test": "pytest -q"}
    meta |= {"request": "it should be return a - b", "failing": ["test_calc.py::test_a"]}
    (folder / "case.json").write_text(json.dumps(meta))
    found = " ".join(check.problems(formats.load_case(folder), folder))
    assert "gives the answer away" in found
    assert "fail on answer 1: ['test_calc.py::test_b']" in found
