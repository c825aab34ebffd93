import pytest

from calendar_math import day_of_year, days_between, days_in, leap


@pytest.mark.parametrize("year", [1996, 2000, 2024])
def test_leap(year):
    assert leap(year)


@pytest.mark.parametrize("year", [1999, 2023])
def test_common(year):
    assert not leap(year)


@pytest.mark.parametrize("year", [1900, 2100])
def test_centuries(year):
    assert not leap(year)


def test_days_in():
    assert [days_in(2023, 2), days_in(2024, 2), days_in(2024, 4)] == [28, 29, 30]


def test_day_of_year():
    assert day_of_year(2024, 3, 1) == 61


def test_bad_days():
    with pytest.raises(ValueError, match="no day 30 in 2024-02"):
        day_of_year(2024, 2, 30)
    with pytest.raises(ValueError, match="no month 13"):
        days_in(2024, 13)


def test_days_between():
    assert days_between((2023, 12, 31), (2024, 3, 1)) == 61
