import pytest

from duration import parse, play_list, show


def test_minutes():
    assert show(225) == "3:45"


def test_short_seconds():
    assert show(185) == "3:05"


def test_zero():
    assert show(0) == "0:00"


def test_hours():
    assert show(3725) == "1:02:05"


def test_negative():
    with pytest.raises(ValueError):
        show(-1)


@pytest.mark.parametrize("seconds", [17, 599, 3600, 86399])
def test_round_trip(seconds):
    assert parse(show(seconds)) == seconds


def test_play_list():
    assert play_list([("a", 61), ("b", 70)]) == ["a (1:01)", "b (1:10)", "total 2:11"]
