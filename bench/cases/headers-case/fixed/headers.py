"""HTTP headers: names in any case, values in order."""


class Headers:
    def __init__(self, pairs=()):
        self._values = {}
        for name, value in pairs:
            self.add(name, value)

    @staticmethod
    def _key(name):
        return name.strip().lower()

    def add(self, name, value):
        self._values.setdefault(self._key(name), []).append(value)

    def get(self, name, default=None):
        """The last value."""
        values = self._values.get(self._key(name))
        return values[-1] if values else default

    def all(self, name):
        return list(self._values.get(self._key(name), []))

    def __contains__(self, name):
        return self._key(name) in self._values

    def remove(self, name):
        """Drops a header; KeyError if it isn't there."""
        del self._values[self._key(name)]

    def lines(self):
        """The header as it goes over the wire."""
        for name, values in self._values.items():
            title = "-".join(part.capitalize() for part in name.split("-"))
            for value in values:
                yield f"{title}: {value}"
