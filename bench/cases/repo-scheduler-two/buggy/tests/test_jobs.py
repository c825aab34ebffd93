import pytest

from scheduler.clock import ManualClock
from scheduler.jobs import Scheduler


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def scheduler(clock):
    return Scheduler(clock)


def test_once(scheduler, clock):
    ran = []
    scheduler.once(5, lambda: ran.append("a"))
    assert scheduler.run_due() == 0
    clock.advance(5)
    assert scheduler.run_due() == 1
    assert ran == ["a"]
    assert scheduler.next_due is None


def test_in_order(scheduler, clock):
    ran = []
    scheduler.once(2, lambda: ran.append("b"))
    scheduler.once(1, lambda: ran.append("a"))
    clock.advance(3)
    scheduler.run_due()
    assert ran == ["a", "b"]


def test_first_time(scheduler):
    scheduler.repeat(10, lambda: None)
    assert scheduler.next_due == 10


def test_again(scheduler, clock):
    scheduler.repeat(10, lambda: None)
    clock.advance(10)
    assert scheduler.run_due() == 1
    assert scheduler.next_due == 20
    clock.advance(10)
    assert scheduler.run_due() == 1


def test_late_runs_keep_the_beat(scheduler, clock):
    scheduler.repeat(10, lambda: None)
    clock.advance(13)
    scheduler.run_due()
    assert scheduler.next_due == 20


def test_bad_interval(scheduler):
    with pytest.raises(ValueError):
        scheduler.repeat(0, print)
