"""Values as text: equal for equal values, the same in every process, never long. Of objects, their attributes."""

import re
import types

_NODES = 150  # values looked at below one
_DEPTH = 6
_LONG = 400  # characters kept of a string
_ITEMS = 50  # taken from a generator
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (int, float, complex, bool, type(None), type(Ellipsis), range, slice)
_LAZY = (types.GeneratorType, map, filter, zip, enumerate, reversed)


def show(value):
    """`value` as Python would nearly write it. Takes nothing out of it and never fails."""
    try:
        return _Writer().write(value, 0)
    except Exception as error:  # attributes that raise: a property, a proxy
        return "<%s that can't be shown: %s>" % (type(value).__name__, type(error).__name__)


def drained(value):
    """A generator or iterator as ("yields", its first items); any other value as it is."""
    if not isinstance(value, _LAZY):
        return value
    items = []
    for item in value:
        items.append(item)
        if len(items) >= _ITEMS:
            break
    return Yields(items)


class Yields:
    """What a generator gave."""

    def __init__(self, items):
        self.items = items


def message_of(error):
    """An exception as text, addresses left out."""
    try:
        return "%s: %s" % (type(error).__name__, _cut(_ADDRESS.sub("", str(error))))
    except Exception:
        return type(error).__name__


def _cut(text):
    return text if len(text) <= _LONG else "%s…(%d)" % (text[:_LONG], len(text))


class _Writer:
    def __init__(self):
        self.left = _NODES
        self.above = []

    def write(self, value, depth):
        self.left -= 1
        kind = type(value)
        if isinstance(value, str) and kind is str:
            return _cut(repr(value))
        if kind in _PLAIN:
            return repr(value)
        if self.left < 0 or depth > _DEPTH or id(value) in self.above:
            return "…"
        self.above.append(id(value))
        try:
            return self._compound(value, kind, depth + 1)
        finally:
            self.above.pop()

    def _compound(self, value, kind, depth):
        if kind is list:
            return "[%s]" % self._all(value, depth)
        if kind is tuple:
            return "(%s%s)" % (self._all(value, depth), "," if len(value) == 1 else "")
        if kind is dict:
            return "{%s}" % self._pairs(value, depth)
        if isinstance(value, (set, frozenset)):
            items = ", ".join(sorted(self._each(value, depth)))
            return "{%s}" % items if kind is set and items else "%s({%s})" % (kind.__name__, items)
        if isinstance(value, Yields):
            return "yields " + self.write(value.items, depth)
        if isinstance(value, BaseException):
            return "%s(%s)" % (kind.__name__, self._all(value.args, depth))
        if isinstance(value, type):
            return value.__name__
        if callable(value) and hasattr(value, "__name__"):
            return "<function %s>" % value.__name__
        own = self._attributes(value)
        if isinstance(value, dict):
            return "%s({%s}%s)" % (kind.__name__, self._pairs(value, depth), self._named(own, depth, ", "))
        if isinstance(value, (list, tuple)) and kind.__repr__ in (list.__repr__, tuple.__repr__):
            return "%s([%s]%s)" % (kind.__name__, self._all(value, depth), self._named(own, depth, ", "))
        if own and not isinstance(value, (int, str, float, bytes)):
            return "%s(%s)" % (kind.__name__, self._named(own, depth, ""))
        return _cut(_ADDRESS.sub("", repr(value)))

    def _each(self, values, depth):
        found = []
        for value in values:
            if self.left < 0:
                found.append("…")
                break
            found.append(self.write(value, depth))
        return found

    def _all(self, values, depth):
        return ", ".join(self._each(values, depth))

    def _pairs(self, value, depth):
        found = []
        for key, item in list(value.items()):
            if self.left < 0:
                found.append("…")
                break
            found.append("%s: %s" % (self.write(key, depth), self.write(item, depth)))
        return ", ".join(found)

    def _named(self, own, depth, before):
        if not own:
            return ""
        found = [
            "%s=%s" % (name, self.write(item, depth))
            for name, item in list(own.items())[:20]
            if self.left >= 0
        ]
        return before + ", ".join(found)

    def _attributes(self, value):
        """Attributes kept in the object itself, by name."""
        own = {}
        for cls in reversed(type(value).__mro__):
            slots = cls.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name in ("__dict__", "__weakref__"):
                    continue
                try:
                    own[name] = object.__getattribute__(value, name)
                except AttributeError:  # a slot not filled, or a mangled name
                    continue
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            held = {}
        own.update((name, held[name]) for name in sorted(held) if isinstance(name, str))
        return own
