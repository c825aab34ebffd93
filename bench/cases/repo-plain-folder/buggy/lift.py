"""A lift that serves calls in the order of its way."""

from calls import Calls

UP, DOWN, IDLE = 1, -1, 0


class Lift:
    def __init__(self, floors):
        self.floors = floors
        self.floor = 0
        self.direction = IDLE
        self.calls = Calls(floors)
        self.stops = []

    def call(self, floor):
        self.calls.add(floor)
        if self.direction == IDLE:
            self._choose()

    def _choose(self):
        if self.calls.above(self.floor):
            self.direction = UP
        elif self.calls.below(self.floor):
            self.direction = DOWN
        else:
            self.direction = IDLE

    def step(self):
        """Moves on by one floor or stops at this one; False when there's nothing to do."""
        if self.calls.waiting(self.floor):
            self.stops.append(self.floor)
            self.calls.done(self.floor)
            if not self.calls.ahead(self.floor, self.direction):
                self.direction = IDLE
            return True
        if self.direction == IDLE:
            return False
        self.floor += self.direction
        return True

    def run(self, limit=200):
        """Serves every call; RuntimeError when it doesn't come to an end."""
        for _ in range(limit):
            if not self.step():
                return self.stops
        raise RuntimeError(f"still running after {limit} steps")
