"""A ring buffer of fixed size."""


class Ring:
    def __init__(self, size):
        self.size = size
        self._slots = [None] * size
        self._first = 0
        self._count = 0

    def __len__(self):
        return self._count

    def push(self, value):
        """Adds a value; the oldest one is overwritten when full."""
        position = (self._first + self._count) % self.size
        self._slots[position] = value
        if self._count == self.size:
            self._first = (self._first + 1) % self.size
        else:
            self._count += 1

    def pop(self):
        """Takes the oldest value out."""
        if not self._count:
            raise IndexError("ring is empty")
        value = self._slots[self._first]
        self._slots[self._first] = None
        self._first = (self._first + 1) % self.size
        self._count -= 1
        return value

    def __getitem__(self, index):
        """The value at `index`, 0 is the oldest."""
        if not 0 <= index < self._count:
            raise IndexError(index)
        position = (self._first + index) % self.size
        return self._slots[position]

    def __iter__(self):
        return (self[index] for index in range(self._count))
