"""Fingerprints of settings, to notice when something changed."""

import hashlib
import json


def canonical(settings):
    """Settings as text that is equal for equal settings."""
    return json.dumps(settings, separators=(",", ":"), sort_keys=True)


def fingerprint(settings, length=12):
    """The first `length` hex digits of a hash over the settings."""
    digest = hashlib.sha256(canonical(settings).encode()).hexdigest()
    return digest[:length]


class Watcher:
    """Tells whether settings differ from those last seen."""

    def __init__(self):
        self._last = {}

    def changed(self, name, settings):
        mark = fingerprint(settings)
        if self._last.get(name) == mark:
            return False
        self._last[name] = mark
        return True

    def forget(self, name):
        self._last.pop(name, None)
