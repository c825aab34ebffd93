"""Totals over rows of numbers."""


def column_sums(rows):
    """The sum of each column; short rows count as filled with 0."""
    width = max((len(row) for row in rows), default=0)
    sums = [0] * width
    for row in rows:
        for index, value in enumerate(row):
            sums[index] += value
    return sums


def row_sums(rows):
    return [sum(row) for row in rows]


def with_totals(rows):
    """The rows with their sums at the end and a last row of totals."""
    lines = [[*row, total] for row, total in zip(rows, row_sums(rows))]
    totals = column_sums(rows)
    return [*lines, [*totals, sum(totals)]]


def share(rows):
    """Each column's share of everything, in percent."""
    sums = column_sums(rows)
    whole = sum(sums)
    if whole == 0:
        return [0] * len(sums)
    return [round(100 * value / whole) for value in sums]
