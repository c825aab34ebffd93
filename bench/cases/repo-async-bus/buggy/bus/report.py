"""How the delivery of an event went."""


class Report:
    def __init__(self, event):
        self.event = event
        self.good = []
        self.errors = []

    def delivered(self, handler):
        self.good.append(handler)

    def failed(self, handler, error):
        self.errors.append((handler, error))

    @property
    def ok(self):
        return not self.errors

    def summary(self):
        return f"{self.event.name}: {len(self.good)} delivered, {len(self.errors)} failed"
