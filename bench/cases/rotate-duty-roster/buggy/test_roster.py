import pytest

from roster import Roster, rotate


def test_rotate_by_none():
    assert rotate(["a", "b", "c"], 0) == ["a", "b", "c"]


def test_rotate_by_one():
    assert rotate(["a", "b", "c"], 1) == ["b", "c", "a"]


def test_rotate_by_two():
    assert rotate(["a", "b", "c", "d"], 2) == ["c", "d", "a", "b"]


def test_rotate_all_the_way():
    assert rotate(["a", "b"], 4) == ["a", "b"]


def test_rotate_nobody():
    assert rotate([], 3) == []


def test_on_duty():
    assert Roster("abc").on_duty(2, 2) == ["c", "a"]


def test_week():
    assert Roster("abc").week(1) == list("bcabcab")


def test_swap():
    roster = Roster("abc")
    roster.swap("a", "c")
    assert roster.people == list("cba")
    with pytest.raises(ValueError):
        roster.swap("a", "z")
