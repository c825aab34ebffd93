"""Removes readings outside of limits."""


class Limits:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low is above high")
        self.low = low
        self.high = high

    def outside(self, value):
        """Whether `value` lies outside; the limits themselves are inside."""
        below = value <= self.low
        above = value >= self.high
        return below or above

    def trim(self, values):
        return [value for value in values if not self.outside(value)]

    def clip(self, values):
        """Values outside are moved onto the nearest limit."""
        return [min(max(value, self.low), self.high) for value in values]

    def violations(self, values):
        return sum(map(self.outside, values))
