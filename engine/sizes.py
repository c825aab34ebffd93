"""Sizes as people read them."""

from __future__ import annotations


def human(size: float) -> str:
    """Bytes in decimal units: `982 B`, `17.6 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
