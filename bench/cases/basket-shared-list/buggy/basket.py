"""A shopping basket with a price list."""


class Basket:
    def __init__(self, prices):
        self.prices = prices
        self._items = []

    def add(self, name, count=1):
        if name not in self.prices:
            raise KeyError(f"no price for {name}")
        self._items.extend([name] * count)

    def remove(self, name):
        self._items.remove(name)

    def items(self):
        """What is in the basket, in the order of putting."""
        return self._items

    def total(self):
        return sum(self.prices[name] for name in self._items)

    def receipt(self):
        """name, count and price a line, by name."""
        lines = []
        for name in sorted(set(self._items)):
            count = self._items.count(name)
            lines.append(f"{count} x {name}: {count * self.prices[name]}")
        return lines
