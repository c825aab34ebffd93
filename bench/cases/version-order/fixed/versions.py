"""Compares dotted version numbers."""

from functools import total_ordering


@total_ordering
class Version:
    """Numbers separated by dots, optionally `-` and a tag: 1.4.2-rc1. A tag sorts before none."""

    def __init__(self, text):
        self.text = text
        numbers, _, self.tag = text.partition("-")
        self.numbers = tuple(int(part) for part in numbers.split("."))

    def _key(self):
        return self.numbers, self.tag == "", self.tag

    def __eq__(self, other):
        return self._key() == other._key()

    def __lt__(self, other):
        return self._key() < other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"Version({self.text!r})"


def newest(texts):
    """The newest of some versions, as it was written; None of none."""
    versions = [Version(text) for text in texts]
    return max(versions).text if versions else None


def upgrades(current, texts):
    """Versions above `current`, oldest first."""
    return [version.text for version in sorted(map(Version, texts)) if version > Version(current)]
