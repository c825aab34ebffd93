"""Smooths a series of numbers."""


def windows(values, size):
    """All runs of `size` neighbouring values."""
    if size < 1:
        raise ValueError("size must be positive")
    return [values[start:start + size] for start in range(len(values) - size + 1)]


def moving_average(values, size):
    """Means of all windows, each to three places."""
    return [round(sum(window) / size, 3) for window in windows(values, size)]


def latest(values, size):
    """The mean of the last `size` values (of all where there are fewer)."""
    recent = values[-size:]
    if not recent:
        raise ValueError("no values")
    return round(sum(recent) / len(recent), 3)


def direction(values, size=3):
    """'up', 'down' or 'flat': the newest mean against that of one step earlier."""
    if len(values) <= size:
        return "flat"
    now, before = latest(values, size), latest(values[:-1], size)
    if now == before:
        return "flat"
    return "up" if now > before else "down"
