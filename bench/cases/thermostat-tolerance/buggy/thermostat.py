"""A thermostat that leaves small differences alone."""


class Thermostat:
    def __init__(self, target, tolerance=0.5):
        self.target = target
        self.tolerance = tolerance
        self.heating = False
        self.switches = 0

    def settled(self, temperature):
        """Whether `temperature` is near enough to the target."""
        return temperature - self.target <= self.tolerance

    def update(self, temperature):
        """Decides from a reading; True while heating."""
        if not self.settled(temperature):
            wanted = temperature < self.target
            if wanted != self.heating:
                self.heating = wanted
                self.switches += 1
        return self.heating

    def run(self, readings):
        return [self.update(reading) for reading in readings]
