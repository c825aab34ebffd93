"""Temperatures as the display shows them."""


def shown(celsius, digits=1):
    """`-3.4 °C`; zero has no sign."""
    value = round(celsius, digits) or 0.0
    return f"{value} °C"


def warmest(readings):
    """The highest of the readings, shown."""
    return shown(max(readings))
