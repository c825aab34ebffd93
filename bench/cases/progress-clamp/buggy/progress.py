"""Progress of downloads."""


class Progress:
    def __init__(self, total):
        self.total = total
        self.done = 0

    def advance(self, count):
        self.done += max(0, count)

    @property
    def fraction(self):
        """Between 0 and 1; something of size 0 is complete."""
        if self.total <= 0:
            return 1.0
        return self.done / self.total

    @property
    def percent(self):
        return int(self.fraction * 100)

    def bar(self, width=10):
        """A bar like [####......]  40%."""
        filled = int(self.fraction * width)
        return f"[{'#' * filled}{'.' * (width - filled)}] {self.percent:>3}%"


def overall(parts):
    """The mean fraction of several downloads."""
    parts = list(parts)
    return sum(part.fraction for part in parts) / len(parts) if parts else 1.0
