"""Which floors want the lift."""


class Calls:
    def __init__(self, floors):
        self.floors = floors
        self._waiting = set()

    def add(self, floor):
        if not 0 <= floor < self.floors:
            raise ValueError(f"no floor {floor}")
        self._waiting.add(floor)

    def done(self, floor):
        self._waiting.discard(floor)

    def waiting(self, floor):
        return floor in self._waiting

    def above(self, floor):
        return any(other > floor for other in self._waiting)

    def below(self, floor):
        return any(other < floor for other in self._waiting)

    def ahead(self, floor, direction):
        return self.above(floor) if direction > 0 else self.below(floor)
