"""Hours and pay of shifts."""

from datetime import datetime, timedelta

BREAK_AFTER = timedelta(hours=6)
BREAK = timedelta(minutes=30)


def parse(text):
    """A time like 2024-03-01 08:00."""
    return datetime.strptime(text, "%Y-%m-%d %H:%M")


def worked(start, end):
    """Time worked between two texts, an unpaid break taken off long shifts."""
    span = parse(end) - parse(start)
    if span < timedelta(0):
        raise ValueError(f"shift ends before it starts: {start} – {end}")
    if span > BREAK_AFTER:
        span -= BREAK
    return span


def hours(span):
    """A time span in hours, to two places."""
    return round(span.total_seconds() / 3600, 2)


def pay(shifts, rate):
    """What a list of (start, end) earns at `rate` an hour."""
    total = sum((worked(start, end) for start, end in shifts), timedelta(0))
    return round(hours(total) * rate, 2)
