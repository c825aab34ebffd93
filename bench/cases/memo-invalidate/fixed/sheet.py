"""A sheet of named numbers and sums over them."""


class Sheet:
    def __init__(self):
        self._cells = {}
        self._sums = {}
        self._cache = {}

    def set(self, name, value):
        """Puts a number into a cell."""
        if name in self._sums:
            raise ValueError(f"{name} is a sum")
        self._cells[name] = value
        self._cache.clear()

    def sum(self, name, parts):
        """Makes `name` the sum of other cells or sums."""
        self._sums[name] = list(parts)
        self._cache.clear()

    def get(self, name):
        """The value of a cell or a sum; an empty cell is 0."""
        if name not in self._sums:
            return self._cells.get(name, 0)
        if name not in self._cache:
            self._cache[name] = sum(self.get(part) for part in self._sums[name])
        return self._cache[name]

    def names(self):
        return sorted({*self._cells, *self._sums})
