from datetime import timedelta

import pytest

from shifts import hours, pay, worked


def test_short_shift():
    assert hours(worked("2024-03-01 08:00", "2024-03-01 12:00")) == 4.0


def test_break_is_taken_off():
    assert hours(worked("2024-03-01 08:00", "2024-03-01 16:00")) == 7.5


def test_over_midnight():
    assert hours(worked("2024-03-01 22:00", "2024-03-02 03:15")) == 5.25


def test_exactly_six_hours():
    assert worked("2024-03-01 08:00", "2024-03-01 14:00") == timedelta(hours=6)


def test_two_days_on_call():
    assert hours(worked("2024-03-01 08:00", "2024-03-03 08:30")) == 48.0


def test_pay_of_a_week():
    week = [(f"2024-03-0{day} 08:00", f"2024-03-0{day} 16:30") for day in range(4, 9)]
    assert pay(week, 20) == 800.0


def test_wrong_order():
    with pytest.raises(ValueError):
        worked("2024-03-02 08:00", "2024-03-01 08:00")
