"""Sizes like 10K or 1.5M, in both directions."""

import re

UNITS = {"": 1, "K": 1024, "M": 1024**2, "T": 1024**4}

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Z]?)B?")


def parse(text):
    """Bytes of a text like 10K; ValueError for anything else."""
    match = _SIZE.fullmatch(text.strip().upper())
    if match is None:
        raise ValueError(f"no size: {text!r}")
    number, unit = match.groups()
    if unit not in UNITS:
        raise ValueError(f"unknown unit {unit!r}")
    return int(float(number) * UNITS[unit])


def show(size):
    """A size in the largest unit that leaves at least 1 of it."""
    best = ""
    for unit, factor in UNITS.items():
        if size >= factor:
            best = unit
    value = size / UNITS[best]
    return f"{value:.1f}{best}" if best else f"{size}"
