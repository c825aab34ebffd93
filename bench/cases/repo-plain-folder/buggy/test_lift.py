import pytest

from lift import Lift


def test_idle():
    assert Lift(5).run() == []


def test_one_call():
    lift = Lift(5)
    lift.call(3)
    assert lift.run() == [3]


def test_on_the_way_up():
    lift = Lift(5)
    lift.call(4)
    lift.call(2)
    assert lift.run() == [2, 4]


def test_same_floor():
    lift = Lift(5)
    lift.call(0)
    assert lift.run() == [0]


def test_up_then_down():
    lift = Lift(9)
    lift.call(5)
    for _ in range(4):
        lift.step()
    lift.call(2)
    assert lift.run() == [5, 2]


def test_two_on_the_way_down():
    lift = Lift(9)
    lift.call(8)
    for _ in range(7):
        lift.step()
    lift.call(3)
    lift.call(6)
    assert lift.run() == [8, 6, 3]


def test_no_such_floor():
    with pytest.raises(ValueError, match="no floor 9"):
        Lift(9).call(9)
