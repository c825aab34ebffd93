import pytest

from batches import batches, send_all


def test_even():
    assert list(batches([1, 2, 3, 4], 2)) == [[1, 2], [3, 4]]


def test_remainder():
    assert list(batches([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]


def test_no_rows():
    assert list(batches([], 3)) == []


def test_size_one():
    assert list(batches("ab", 1)) == [["a"], ["b"]]


def test_bad_size():
    with pytest.raises(ValueError):
        list(batches([1], 0))


def test_send_all():
    sent = []
    counter = send_all(range(7), 3, sent.append)
    assert sum(map(len, sent)) == 7
    assert (counter.batches, counter.rows) == (3, 7)


def test_send_even():
    sent = []
    assert send_all(range(6), 3, sent.append).batches == 2
    assert sent == [[0, 1, 2], [3, 4, 5]]
