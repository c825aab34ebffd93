import pytest

from insert import dump, insert, literal


@pytest.mark.parametrize("value, text", [(None, "NULL"), (True, "TRUE"), (3, "3"), ("a", "'a'")])
def test_literal(value, text):
    assert literal(value) == text


def test_quotes():
    assert literal("it's") == "'it''s'"


def test_one_column():
    assert insert("t", {"a": 1}) == "INSERT INTO t (a) VALUES (1);"


def test_two_columns():
    assert insert("t", {"a": 1, "b": None}) == "INSERT INTO t (a, b) VALUES (1, NULL);"


def test_empty_row():
    with pytest.raises(ValueError):
        insert("t", {})


def test_dump():
    assert dump("t", [{"a": 1}, {"a": 2}]).count("\n") == 1
