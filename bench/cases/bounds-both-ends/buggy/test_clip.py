import pytest

from clip import Limits


def test_far_outside():
    assert Limits(0, 10).trim([-5, 5, 15]) == [5]


def test_clip():
    assert Limits(0, 10).clip([-5, 5, 15]) == [0, 5, 10]


def test_on_the_limits():
    assert Limits(0, 10).trim([0, 4, 10]) == [0, 4, 10]


def test_violations():
    assert Limits(1, 3).violations([0, 2, 4, 5]) == 3


def test_single_point():
    assert Limits(2, 2).violations([2]) == 0


def test_limits_are_checked():
    with pytest.raises(ValueError, match="low is above high"):
        Limits(3, 1)
