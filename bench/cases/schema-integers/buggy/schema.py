"""Checks plain data against a small schema."""


def is_text(value):
    return isinstance(value, str)


def is_whole(value):
    return isinstance(value, int)


def is_flag(value):
    return isinstance(value, bool)


CHECKS = {"text": is_text, "whole": is_whole, "flag": is_flag}


def problems(data, schema):
    """What is wrong with `data`, as a list of sentences.

    `schema` maps a field's name to its type; a trailing `?` means it may be absent.
    """
    found = []
    for name, kind in schema.items():
        optional = kind.endswith("?")
        check = CHECKS[kind.rstrip("?")]
        if name not in data:
            if not optional:
                found.append(f"{name} is missing")
        elif not check(data[name]):
            found.append(f"{name} is not {kind.rstrip('?')}: {data[name]!r}")
    for name in data:
        if name not in schema:
            found.append(f"{name} is unknown")
    return found
