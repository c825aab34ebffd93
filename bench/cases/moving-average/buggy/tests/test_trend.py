import pytest

from trend import direction, latest, moving_average, windows


def test_windows():
    assert windows([1, 2, 3], 2) == [[1, 2], [2, 3]]


def test_windows_too_large():
    assert windows([1, 2], 3) == []


def test_moving_average():
    assert moving_average([1, 2, 3, 6], 2) == [1.5, 2.5, 4.5]


def test_latest():
    assert latest([1, 2, 3, 10], 2) == 6.5


def test_latest_of_few():
    assert latest([4, 6], 5) == 5


def test_latest_of_none():
    with pytest.raises(ValueError, match="no values"):
        latest([], 2)


def test_direction():
    assert direction([1, 1, 1, 9]) == "up"
    assert direction([9, 9, 9, 1]) == "down"
    assert direction([5, 5, 5, 5, 5]) == "flat"
    assert direction([1, 2]) == "flat"
