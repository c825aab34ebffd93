"""Clocks."""


class ManualClock:
    def __init__(self, now=0):
        self.now = now

    def advance(self, seconds):
        if seconds < 0:
            raise ValueError("time doesn't run backwards")
        self.now += seconds
