"""Neighbours of a value: near enough to be taken for an input, different enough to tell two functions apart."""

import copy
import datetime
import decimal
import enum
import fractions

_DEEP = 4  # neighbours of an element or attribute that are put in its place


def variants(value, depth=0):
    """Neighbours of `value`, the most telling first; new objects, `value` itself is left as it is."""
    if isinstance(value, enum.Enum):
        return [other for other in type(value) if other is not value][:4]
    for kinds, make in _MAKERS:
        if isinstance(value, kinds):
            try:
                return make(value, depth)
            except Exception:  # a subclass that can't be made like its base: it has no neighbours
                return []
    return _objects(value, depth) if depth < 2 else []


def _booleans(value, depth):
    return [not value]


def _integers(value, depth):
    near = [value + 1, value - 1, 0, value + 0.5, -value, 1, -1, 2 * value]
    return _different(value, near)


def _floats(value, depth):
    return _different(
        value, [value + 0.5, value - 0.5, 0.0, -value, value + 1, float(int(value)), value * 10]
    )


def _numbers(value, depth):
    kind = type(value)
    return _different(value, [value + kind(1), value - kind(1), kind(0), -value, value + kind(1) / 2])


def _strings(value, depth):
    turned = value.swapcase() if value.swapcase() != value else value.title()
    middle = len(value) // 2
    blank = " " if isinstance(value, str) else b" "
    near = [
        value[:0],
        value[:-1],
        value[1:],
        value[::-1],
        value + value[-1:],
        turned,
        blank + value + blank,
        value[:middle] + blank + value[middle:],
        value + value,
        value[:1],
    ]
    if isinstance(value, str):
        near += [value[:middle] + mark + value[middle:] for mark in "-_.,0A"]
    return _different(value, near)


def _sequences(value, depth):
    def make(items):
        return value[:0] + items

    near = [make(value[:0]), make(value[:1]), make(value[::-1]), make(value + value[-1:]), make(value[1:])]
    near.append(make(value[:-1]))
    if depth < 2:
        for at in sorted({0, len(value) - 1, len(value) // 2}) if value else ():
            for other in variants(value[at], depth + 1)[:_DEEP]:
                near.append(make(value[:at] + type(value)([other]) + value[at + 1 :]))
    near.append(make(value[:1] + value))
    near.append(make(value + value))
    return _different(value, near)


def _mappings(value, depth):
    near = []
    keys = list(value)
    for gone in keys[:2]:
        near.append({key: item for key, item in value.items() if key != gone})
    near.append({})
    if depth < 2:
        for key in keys[:3]:
            near.extend({**value, key: other} for other in variants(value[key], depth + 1)[:_DEEP])
        for key in keys[:1]:
            for other in variants(key, depth + 1)[:2]:
                if other not in value:
                    near.append({**value, other: copy.deepcopy(value[key])})
    near.append(dict(reversed(list(value.items()))))
    return near if type(value) is dict else [_refilled(value, items) for items in near]


def _refilled(value, items):
    other = copy.copy(value)
    other.clear()
    other.update(items)
    return other


def _sets(value, depth):
    items = sorted(value, key=repr)
    near = [type(value)(items[1:]), type(value)()]
    near += [type(value)([*items, other]) for other in (variants(items[0], 2)[:2] if items else ())]
    return _different(value, near)


def _dates(value, depth):
    day = datetime.timedelta(days=1)
    near = [value + day, value - day, value + 31 * day, value - 365 * day]
    if isinstance(value, datetime.datetime):
        near += [value + datetime.timedelta(hours=1), value + datetime.timedelta(microseconds=1)]
    return near


def _spans(value, depth):
    second = datetime.timedelta(seconds=1)
    return _different(value, [value + second, value - second, -value, datetime.timedelta(), value * 2])


def _objects(value, depth):
    """Copies of an object in which one attribute is another."""
    held = getattr(value, "__dict__", None)
    if not held or callable(value) or type(value).__module__ == "builtins":
        return []
    near = []
    for name, item in list(held.items())[:6]:
        for other in variants(item, depth + 1)[:_DEEP]:
            changed = copy.copy(value)
            changed.__dict__[name] = other
            near.append(changed)
    return near


def _different(value, near):
    """Those of `near` that differ from `value` and from one another."""
    found = []
    for other in near:
        if (type(other), other) != (type(value), value) and all(
            (type(other), other) != (type(known), known) for known in found
        ):
            found.append(other)
    return found


_MAKERS = (
    (bool, _booleans),
    (int, _integers),
    (float, _floats),
    ((decimal.Decimal, fractions.Fraction), _numbers),
    ((str, bytes), _strings),
    ((list, tuple), _sequences),
    (dict, _mappings),
    ((set, frozenset), _sets),
    (datetime.date, _dates),
    (datetime.timedelta, _spans),
)
