"""What checkpoints are measured on: files of fixes and of choices, folders of texts."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from deskagent.errors import UsageError
from deskagent.repair.model.measure import suites
from deskagent.repair.model.measure.choices import SIZE, line_of

PYTHON = """def count(items, low, high):
    found = 0
    for item in items:
        if low <= item < high:
            found += 1
    return found
"""
GO = """package a

func count(items []int, low int, high int) int {
\tfound := 0
\tfor _, item := range items {
\t\tif low <= item && item < high {
\t\t\tfound += 1
\t\t}
\t}
\treturn found
}
"""
FIXES = [
    {"path": "a.py", "before": PYTHON, "after": PYTHON.replace("< high", "<= high"), "repo": "a+b"},
    {"path": "a.go", "before": GO, "after": GO.replace("< high", "<= high"), "failure": "2 != 3"},
    {"path": "a.txt", "before": "one\n", "after": "two\n"},
]


@pytest.fixture
def fixes(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(fix) + "\n" for fix in FIXES))
    return path


def test_fixes_become_lists_to_choose_from_in_languages_that_are_repaired(fixes: Path) -> None:
    found = suites.read(str(fixes), 100)
    assert found.name == "mine" and found.left == 1
    python, go = found.choices
    assert (python.group, go.failure) == ("a+b", "2 != 3")
    for choice in (python, go):
        assert choice.rank > 0
        assert "<= high" in choice.answer.after
        assert sum("<= high" in option.after for option in choice.options) == 1
    assert len(python.options) == SIZE
    assert suites.read(str(fixes), 100) == found, "the same again"
    assert len(suites.read(str(fixes), 1).choices) + suites.read(str(fixes), 1).left == 1


def test_a_file_of_choices_is_read_as_it_is(fixes: Path, tmp_path: Path) -> None:
    made = suites.read(str(fixes), 100).choices
    packed = tmp_path / "packed.jsonl.xz"
    packed.write_bytes(lzma.compress("".join(line_of(one) + "\n" for one in made).encode()))
    assert suites.read(str(packed), 100) == suites.Suite("packed", made)


def test_texts_are_read_in_pieces_and_what_is_none_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("words " * 1000)
    (tmp_path / "b.bin").write_bytes(b"\xff\x00")
    (tmp_path / "c.bin").write_bytes(b"a\0")
    (tmp_path / "empty").write_text(" \n")
    found = suites.read(str(tmp_path), 100)
    assert "".join(found.texts) == "words " * 1000 and len(found.texts) == 2
    assert len(suites.read(str(tmp_path), 1).texts) == 1


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("none.jsonl", None, "can't be read"),
        ("none", None, "no suite"),
        ("a.jsonl", "", "empty"),
        ("a.jsonl", "{", "line 1: no fix"),
        ("a.jsonl", '{"path": "a.py", "before": "a", "after": "a"}', "no fix"),
        ("a.jsonl", '{"path": "a.py", "before": 1, "after": "a"}', "before is no text"),
        ("a.jsonl", '["before"]', "no fix"),
        ("a.jsonl", '{"excerpts": 1}', "no list to choose from"),
        ("a.jsonl", '{"path": "a.txt", "before": "b", "after": "a"}', "of no fix"),
        ("a.jsonl.xz", "no xz", "can't be read"),
        ("a.txt", " ", "no text"),
    ],
)
def test_what_is_no_suite_is_told_in_words(tmp_path: Path, name: str, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=told):
        suites.read(str(tmp_path / name), 100)


def test_the_suite_that_comes_with_deskagent() -> None:
    found = suites.read(suites.OWN, 1000)
    assert len(found.choices) > 40
    assert sum(len(choice.options) == SIZE for choice in found.choices) > 35
    for choice in found.choices:
        assert choice.failure and choice.request
        assert choice.answer.after != choice.answer.excerpt
        assert len({(option.path, option.after) for option in choice.options}) == len(choice.options)
