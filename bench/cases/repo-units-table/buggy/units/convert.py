"""Conversion of numbers and texts."""

import re

from units.tables import QUANTITIES

TEXT = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([a-z]+)\s*")


class UnknownUnit(ValueError):
    pass


def quantity_of(unit):
    for name, table in QUANTITIES.items():
        if unit in table:
            return name
    raise UnknownUnit(f"unknown unit {unit}")


def convert(value, unit, target):
    """`value` from one unit to another of the same quantity."""
    quantity = quantity_of(unit)
    if quantity_of(target) != quantity:
        raise ValueError(f"{unit} and {target} measure different things")
    table = QUANTITIES[quantity]
    return value * table[unit] / table[target]


def convert_text(text, target):
    """Like '5 km' to a number of miles."""
    match = TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"can't read {text!r}")
    return convert(float(match.group(1)), match.group(2), target)
