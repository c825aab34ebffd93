import pytest

from ring import Ring


def filled(size, values):
    ring = Ring(size)
    for value in values:
        ring.push(value)
    return ring


def test_not_full():
    assert list(filled(3, [1, 2])) == [1, 2]


def test_full():
    assert list(filled(3, [1, 2, 3])) == [1, 2, 3]


def test_wrapped():
    assert list(filled(3, [1, 2, 3, 4, 5])) == [3, 4, 5]


def test_index_after_wrap():
    assert filled(3, [1, 2, 3, 4])[2] == 4


def test_pop():
    ring = filled(2, [1, 2, 3])
    assert [ring.pop(), ring.pop()] == [2, 3]
    with pytest.raises(IndexError, match="empty"):
        ring.pop()


def test_bad_index():
    with pytest.raises(IndexError):
        filled(3, [1])[1]
