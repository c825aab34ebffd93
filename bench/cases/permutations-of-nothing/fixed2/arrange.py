"""Arrangements of things in a row."""


def arrangements(things):
    """All orders of `things`, as lists, in the order of their positions.

    An empty row can be arranged in one way: the empty list.
    """
    things = list(things)
    if not things:
        return [things]
    result = []
    for index, first in enumerate(things):
        rest = things[:index] + things[index + 1:]
        for tail in arrangements(rest):
            result.append([first, *tail])
    return result


def valid(arrangement, apart):
    """Whether no pair of `apart` stands side by side."""
    for left, right in zip(arrangement, arrangement[1:]):
        if (left, right) in apart or (right, left) in apart:
            return False
    return True


def allowed(things, apart=()):
    """Arrangements in which the pairs of `apart` don't touch."""
    return [order for order in arrangements(things) if valid(order, set(apart))]


def count(things):
    return len(arrangements(things))
