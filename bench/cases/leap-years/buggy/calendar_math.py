"""A little calendar arithmetic without datetime."""

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def leap(year):
    """Whether `year` has a 29th of February."""
    return year % 4 == 0 or (year % 100 != 0 and year % 400 == 0)


def days_in(year, month):
    if not 1 <= month <= 12:
        raise ValueError(f"no month {month}")
    return LENGTHS[month - 1] + (month == 2 and leap(year))


def day_of_year(year, month, day):
    """1 for the first of January."""
    if not 1 <= day <= days_in(year, month):
        raise ValueError(f"no day {day} in {year}-{month:02d}")
    return sum(days_in(year, earlier) for earlier in range(1, month)) + day


def days_between(start, end):
    """Days from one (year, month, day) to a later one."""
    total = day_of_year(*end) - day_of_year(*start)
    for year in range(start[0], end[0]):
        total += 366 if leap(year) else 365
    return total
