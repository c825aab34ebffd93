"""Lines of a terminal's screen with their colours, for who draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Look(NamedTuple):
    """fg, bg: a colour's name (`red`, `brightred`; `brown` is the terminal's yellow), six hex digits, or `default`."""

    fg: str = "default"
    bg: str = "default"
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False
    blink: bool = False


Row = tuple[tuple[str, Look], ...]
"""Neighbouring cells of one look each; blanks at the end may be left out."""


def row(cells: Mapping[int, Any], columns: int) -> Row:
    """cells: pyte's characters by column, where there are any."""
    runs: list[tuple[str, Look]] = []
    last = min(max(cells, default=-1) + 1, columns)
    looks, data = None, ""
    for column in range(last):
        cell = cells[column]
        if cell[1:] != looks:
            if looks is not None:
                runs.append((data, Look(*looks)))
            looks, data = cell[1:], ""
        data += cell[0]
    if looks is not None:
        runs.append((data, Look(*looks)))
    return tuple(runs)


def text(row: Row) -> str:
    """Its letters alone."""
    return "".join(data for data, _ in row)
