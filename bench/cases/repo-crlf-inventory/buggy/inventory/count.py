"""Counting."""

from collections import Counter

from inventory.parts import family, normal


class Count:
    """Adds up what several people counted."""

    def __init__(self):
        self.parts = Counter()

    def add(self, number, pieces=1):
        if pieces < 0:
            raise ValueError("negative count")
        self.parts[normal(number)] += pieces

    def load(self, text):
        """Lines of `number;pieces`."""
        for line in text.splitlines():
            if line.strip():
                number, _, pieces = line.partition(";")
                self.add(number, int(pieces or 1))

    def families(self):
        """family → pieces."""
        result = Counter()
        for number, pieces in self.parts.items():
            result[family(number)] += pieces
        return dict(result)

    def missing(self, expected):
        """number → how many are fewer than expected."""
        short = {}
        for number, pieces in expected.items():
            gap = pieces - self.parts[normal(number)]
            if gap > 0:
                short[normal(number)] = gap
        return short
