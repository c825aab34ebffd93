"""Simple statistics over lists of numbers."""


def mean(numbers):
    """The average, None of nothing."""
    if not numbers:
        return None
    return sum(numbers) / len(numbers)


def median(numbers):
    """The middle value (the mean of the middle two), None of nothing."""
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def spread(numbers):
    """Largest minus smallest, 0 for fewer than two."""
    if len(numbers) < 2:
        return 0
    return max(numbers) - min(numbers)


def describe(groups):
    """name → (mean, median, spread) for named lists."""
    return {name: (mean(values), median(values), spread(values)) for name, values in groups.items()}
