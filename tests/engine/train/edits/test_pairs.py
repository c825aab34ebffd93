"""Which functions of two releases make a pair."""

from __future__ import annotations

import pytest

from engine.errors import CheckpointError
from engine.prompt.edits import apply, between
from engine.train.edits.pairs import functions, pairs
from engine.train.edits.wheel import Wheel

OLD = '''"""A module long enough to be read, of which releases differ in some places and are the same in others."""


def first(values, limit):
    for value in values:
        if value < limit:
            return value
    return None


class Box:
    @property
    def size(self):
        def inner(item):
            return len(item)

        return sum(map(inner, self.items))

    @size.setter
    def size(self, value):
        self.value = value

    def empty(self):
        # none
        return not self.items


def last(values):
    return values[-1]
'''


def found(wheel, new: str, path: str = "p/a.py"):
    one, two = Wheel(wheel("p", "1", {path: OLD})), Wheel(wheel("p", "2", {path: new}))
    return list(pairs("p", "2", one, two))


def test_functions_go_by_their_names_and_only_the_outermost_that_are_there_once():
    assert list(functions(OLD)) == ["first", "Box.empty", "last"]


def test_a_change_in_one_place_makes_a_pair(wheel):
    (pair,) = found(wheel, OLD.replace("value < limit", "value <= limit"))
    assert (pair.name, pair.release, pair.strange) == ("first", "2", 0)
    assert pair.shown.startswith("def first(") and "value < limit" in pair.shown
    assert apply(between(pair.shown, pair.meant), pair.shown) == pair.meant
    assert "value <= limit" in pair.meant


def test_names_that_the_file_has_nothing_of_are_counted(wheel):
    (pair,) = found(wheel, OLD.replace("values[-1]", "values[-1] if values else missing(elsewhere)"))
    assert (pair.name, pair.strange) == ("last", 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("value < limit", "value < limit"),
        ("    return None", "\n".join(f"    limit += {n}" for n in range(6))),
        ("for value in values:\n        if", "for value in values:\n\n\n\n\n\n\n        if"),
        ("def last", "def final"),
    ],
    ids=["the same", "too many lines", "lines put in", "another name"],
)
def test_others_make_none(wheel, old, new):
    assert not found(wheel, OLD.replace(old, new))


@pytest.mark.parametrize(
    "path", ["p/tests/test_a.py", "p/_vendor/q/a.py", "p/../a.py", "p/a.pyi", "docs/a.py", "p/click.py"]
)
def test_files_that_are_none_of_the_packages_code_are_left_out(wheel, path):
    assert not found(wheel, OLD.replace("value < limit", "value <= limit"), path)


def test_a_licence_is_that_of_the_release(wheel):
    assert Wheel(wheel("p", "1", {})).licence() == "MIT"
    assert Wheel(wheel("p", "2", {}, "GPL-3.0-only")).licence() is None


def test_what_is_no_archive_is_said(tmp_path):
    (tmp_path / "p-1-py3-none-any.whl").write_text("nothing")
    with pytest.raises(CheckpointError, match="no wheel"):
        Wheel(tmp_path / "p-1-py3-none-any.whl")
