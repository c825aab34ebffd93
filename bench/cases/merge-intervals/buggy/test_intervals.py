import pytest

from intervals import free, longest_gap, merge


def test_apart():
    assert merge([(5, 6), (1, 2)]) == [(1, 2), (5, 6)]


def test_overlap():
    assert merge([(1, 4), (3, 6)]) == [(1, 6)]


def test_touching():
    assert merge([(1, 2), (2, 3)]) == [(1, 3)]


def test_inside():
    assert merge([(1, 9), (3, 4)]) == [(1, 9)]


def test_wrong_order():
    with pytest.raises(ValueError):
        merge([(3, 1)])


def test_free():
    assert free([(9, 10), (12, 13)], 8, 14) == [(8, 9), (10, 12), (13, 14)]


def test_free_with_nested_booking():
    assert free([(8, 13), (9, 10)], 8, 14) == [(13, 14)]


def test_longest_gap():
    assert longest_gap([(9, 10)], 8, 14) == (10, 14)
    assert longest_gap([(8, 14)], 8, 14) is None
