import pytest

from scheduler.clock import ManualClock


def test_advance():
    clock = ManualClock(3)
    clock.advance(4)
    assert clock.now == 7


def test_backwards():
    with pytest.raises(ValueError, match="backwards"):
        ManualClock().advance(-1)
