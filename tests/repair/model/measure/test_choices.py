"""Lists to choose from, as they are made, written and read."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.repair.model.judge import Asked, Opinion
from deskagent.repair.model.measure import ranks
from deskagent.repair.model.measure.choices import SIZE, Choice, Option, choose, fix_of, line_of, parse
from deskagent.repair.model.measure.hunk import Hunk, near
from deskagent.repair.rank import iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Candidate, Edit, Suspect

BUGGY = b"""LIMIT = 3


def count(items, low, high):
    found = 0
    for item in items:
        if low <= item < high:
            found += 1
    return found
"""
FIXED = BUGGY.replace(b"item < high", b"item <= high")
ODD = BUGGY.replace(b"found += 1", b"found += weigh(item)[0]")


class Knows:
    """Holds `text` likely."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[Asked] = []

    def warm(self) -> None:
        pass

    def opinions(self, asked: Asked, after: list[str]) -> list[Opinion]:
        self.asked.append(asked)
        return [Opinion(-1.0 if self.text in one else -9.0, 5) for one in after]


def makes(*texts: bytes) -> Callable[[Candidate], bool]:
    """Whether a candidate makes one of these of the file."""

    def right(candidate: Candidate) -> bool:
        code = BUGGY
        for edit in sorted(candidate.edits, key=lambda edit: edit.start, reverse=True):
            code = code[: edit.start] + edit.new.encode() + code[edit.end :]
        return code in texts

    return right


def made(after: bytes, right: Callable[[Candidate], bool], seed: int = 0) -> Choice:
    source = SourceFile.from_bytes("a.py", BUGGY)
    stream = iter_ranked(lambda _: source, [Suspect("a.py", line, 1.0) for line in range(5, 10)])
    found = choose(
        "count", stream, right, fix_of(Syntax(source), after), random.Random(seed), 400, failure="failed"
    )
    assert found is not None
    return found


def test_the_right_edit_stands_once_among_its_neighbours() -> None:
    choice = made(FIXED, makes(FIXED))
    assert choice.rank > 0
    assert len(choice.options) == SIZE and len(choice.drawn) == 15
    after = [option.after for option in choice.options]
    assert [i for i, text in enumerate(after) if "item <= high" in text] == [choice.right]
    assert len({option.after for option in choice.options}) == SIZE
    assert all(option.value is not None for option in choice.options)
    assert all("item <= high" not in option.after for option in choice.drawn)
    assert made(FIXED, makes(FIXED)) == choice, "the seed decides"
    assert len({made(FIXED, makes(FIXED), seed).right for seed in range(8)}) > 2


def test_others_that_are_right_too_stay_out() -> None:
    alone = made(FIXED, makes(FIXED))
    other = next(o.after for i, o in enumerate(alone.options) if i != alone.right)
    also = BUGGY[: BUGGY.index(b"def")] + other.encode() + b"\n"
    either = made(FIXED, makes(FIXED, also))
    texts = [option.after for option in (*either.options, *either.drawn)]
    assert either.rank > 0
    assert sum(text in (other, alone.answer.after) for text in texts) == 1, "the one that came first"


def test_one_that_is_not_reached_is_put_among_others() -> None:
    choice = made(ODD, lambda _: False)
    assert choice.rank == 0 and choice.drawn == ()
    assert "weigh(item)[0]" in choice.answer.after
    assert choice.answer.value is None


def test_too_few_to_choose_from_make_no_choice_unless_few_are_enough() -> None:
    source = SourceFile.from_bytes("a.py", BUGGY)
    fix = fix_of(Syntax(source), FIXED)
    for fewest, there in ((SIZE - 1, False), (0, True)):
        stream = iter_ranked(lambda _: source, [Suspect("a.py", 7, 1.0)])
        found = choose("few", stream, makes(FIXED), fix, random.Random(0), 4, fewest)
        assert (found is not None) == there
        assert found is None or (1 < len(found.options) <= 5 and "item <= high" in found.answer.after)


def test_what_is_known_is_told_and_an_excerpt_is_asked_about_once() -> None:
    judge = Knows("item <= high")
    found = ranks.judged(made(FIXED, makes(FIXED)), judge)
    assert [asked.failure for asked in judge.asked] == ["failed"]
    assert judge.asked[0].excerpt.startswith("def count(") and judge.asked[0].path == "a.py"
    assert len(found.rows) == SIZE and len(found.drawn) == 15
    assert ranks.reciprocals([found], ranks.MODEL) == [1.0]


_TEXT = st.text("ab\n", max_size=12)


@given(
    st.lists(st.tuples(st.none() | st.floats(-9, 0), _TEXT, _TEXT), min_size=1, max_size=6), _TEXT, st.data()
)
def test_a_line_holds_the_whole_choice(rows: list, failure: str, data: st.DataObject) -> None:
    options = [Option(value, "é.py", before, after) for value, before, after in rows]
    right = data.draw(st.integers(0, len(options) - 1))
    choice = Choice("n", tuple(options), right, 3, failure, "please", "g", tuple(options[1:]))
    line = line_of(choice)
    assert "\n" not in line and parse(line) == choice


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"excerpts": [], "options": [[0, 1, 2]], "drawn": []}'])
def test_what_is_no_choice_is_told(line: str) -> None:
    with pytest.raises(ValueError):
        parse(line)


def test_a_hunk_is_one_edit_of_whole_lines() -> None:
    assert Hunk.of(b"a\nb\nc\n", b"a\nB\nc\n").edit("a") == Edit("a", 2, 4, "B\n")
    assert Hunk.of(b"a\nc\n", b"a\nb\nc\n").edit("a") == Edit("a", 2, 2, "b\n")
    assert Hunk.of(b"a\na\n", b"a\n").edit("a") == Edit("a", 2, 4, "")


@given(*[st.lists(st.sampled_from([b"a\n", b"b\n", b"c", b"\r\n"])).map(b"".join)] * 2)
def test_a_hunk_leads_from_one_version_to_the_other(before: bytes, after: bytes) -> None:
    edit = Hunk.of(before, after).edit("a")
    assert before[: edit.start] + edit.new.encode() + before[edit.end :] == after


def test_a_hunks_places_are_the_statements_that_it_changes_or_stands_between() -> None:
    syntax = Syntax(SourceFile.from_bytes("a.py", BUGGY))
    assert Hunk.of(BUGGY, FIXED).places(syntax) == [7]
    more = BUGGY.replace(b"    found = 0\n", b"    found = 0\n    low += 1\n")
    assert Hunk.of(BUGGY, more).places(syntax) == [5, 6]
    assert [s.line for s in near(syntax, 7)] == [4, 5, 6, 7, 8, 9]
    assert [s.line for s in near(syntax, 1)] == [1, 4, 5, 6, 7, 8, 9], (
        "outside of functions, all that is near"
    )
