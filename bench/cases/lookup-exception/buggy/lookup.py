"""Reads values out of nested data by dotted paths."""

_RAISE = object()


def step(data, key):
    """One step down: by key in a dict, by number in a list."""
    if isinstance(data, list):
        return data[int(key)]
    return data[key]


def lookup(data, path, default=_RAISE):
    """The value at `path`, like 'servers.0.port'; `default` where there is none."""
    try:
        for key in path.split("."):
            data = step(data, key)
    except KeyError:
        if default is _RAISE:
            raise LookupError(f"nothing at {path}") from None
        return default
    return data


def assign(data, path, value):
    """Puts `value` at `path`, making dicts on the way."""
    *parents, last = path.split(".")
    for key in parents:
        data = data.setdefault(key, {})
    data[last] = value
