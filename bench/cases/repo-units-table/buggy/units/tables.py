"""Factors to the base unit of each quantity."""

LENGTH = {
    "mm": 0.001,
    "cm": 0.01,
    "m": 1.0,
    "km": 1000.0,
    "in": 0.0254,
    "ft": 0.3048,
}

MASS = {
    "g": 0.001,
    "kg": 1.0,
    "t": 1000.0,
    "lb": 0.45359237,
}

QUANTITIES = {"length": LENGTH, "mass": MASS}
