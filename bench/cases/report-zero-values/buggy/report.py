"""Summaries of sensor readings, some of which may be absent (None)."""


def present(readings):
    """Readings that were really taken."""
    return [reading for reading in readings if reading]


def summary(readings):
    """Count, smallest, largest and mean of what was measured."""
    values = present(readings)
    if not values:
        return {"count": 0}
    return {
        "count": len(values),
        "low": min(values),
        "high": max(values),
        "mean": sum(values) / len(values),
    }


def report(sensors):
    """One line a sensor, in order of their names."""
    lines = []
    for name in sorted(sensors):
        facts = summary(sensors[name])
        if facts["count"] == 0:
            lines.append(f"{name}: no data")
        else:
            lines.append(f"{name}: {facts['low']:.1f}..{facts['high']:.1f} ({facts['count']})")
    return lines
