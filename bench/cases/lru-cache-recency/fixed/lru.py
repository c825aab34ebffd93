"""A small least-recently-used cache."""

from collections import OrderedDict


class LRUCache:
    """Keeps at most `capacity` entries; the one that was not used for longest goes first."""

    def __init__(self, capacity):
        if capacity < 1:
            raise ValueError("capacity must be positive")
        self.capacity = capacity
        self.hits = 0
        self.misses = 0
        self._entries = OrderedDict()

    def __len__(self):
        return len(self._entries)

    def __contains__(self, key):
        return key in self._entries

    def get(self, key, default=None):
        """The value for `key`, or `default`; counts as a use."""
        if key not in self._entries:
            self.misses += 1
            return default
        self.hits += 1
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, key, value):
        """Stores `value`, throwing out the oldest entry if there are too many."""
        if key in self._entries:
            self._entries.move_to_end(key)
        self._entries[key] = value
        if len(self._entries) > self.capacity:
            self._entries.popitem(last=False)

    def keys(self):
        """Keys, the least recently used first."""
        return list(self._entries)
