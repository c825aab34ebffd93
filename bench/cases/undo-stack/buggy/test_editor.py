import pytest

from editor import Buffer


def test_insert_and_delete():
    buffer = Buffer("abc")
    buffer.insert(1, "X")
    buffer.delete(0, 1)
    assert buffer.text == "Xbc"


def test_undo():
    buffer = Buffer("abc")
    buffer.insert(3, "d")
    assert buffer.undo()
    assert buffer.text == "abc"
    assert not buffer.undo()


def test_redo():
    buffer = Buffer("a")
    buffer.insert(1, "b")
    buffer.undo()
    assert buffer.redo()
    assert buffer.text == "ab"
    assert not buffer.redo()


def test_undo_all_the_way():
    buffer = Buffer()
    for char in "abc":
        buffer.insert(0, char)
    while buffer.undo():
        pass
    assert buffer.text == ""
    while buffer.redo():
        pass
    assert buffer.text == "cba"


def test_new_edit_ends_redo():
    buffer = Buffer("a")
    buffer.insert(1, "b")
    buffer.undo()
    buffer.insert(1, "c")
    assert not buffer.redo()
    assert buffer.text == "ac"


def test_bad_position():
    with pytest.raises(IndexError):
        Buffer("a").insert(5, "x")
