"""How a picture is shown in this terminal: by kitty's protocol, as sixels, else as half blocks.

The terminal isn't asked: its answer would come among the keys that the app reads. Its environment says what it is.
DESKAGENT_PICTURES says it where that is wrong: `kitty`, `sixel` or `halves`.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from textual.app import App
from textual.widget import Widget


class Way(StrEnum):
    KITTY = "kitty"
    SIXEL = "sixel"
    HALVES = "halves"


Cell = tuple[int, int]
"""Width and height of a character in pixels."""
_USUAL: Cell = (10, 20)
_SIXEL_PROGRAMS = ("WezTerm", "iTerm.app", "mintty")
_SIXEL_TERMS = ("foot", "mlterm", "contour", "yaft")
_KONSOLE = 220400
"""The first of its versions with sixels."""


def way(env: Mapping[str, str], cell: Cell | None) -> Way:
    """cell: None where the terminal doesn't say; sixels would then come out in a wrong size."""
    if (said := env.get("DESKAGENT_PICTURES", "")) in list(Way):
        return Way(said)
    term, program = env.get("TERM", ""), env.get("TERM_PROGRAM", "")
    if "TEXTUAL_DRIVER" in env or "TMUX" in env or term.startswith(("screen", "tmux")):
        return Way.HALVES  # what shows the app there doesn't pass pictures on
    if "KITTY_WINDOW_ID" in env or term in ("xterm-kitty", "xterm-ghostty") or program == "ghostty":
        return Way.KITTY
    konsole = env.get("KONSOLE_VERSION", "")
    sixel = (
        program in _SIXEL_PROGRAMS
        or term.startswith(_SIXEL_TERMS)
        or "sixel" in term
        or (konsole.isdecimal() and int(konsole) >= _KONSOLE)
    )
    return Way.SIXEL if sixel and cell else Way.HALVES


def cell() -> Cell | None:
    """As the terminal's driver says; None where it doesn't, and where there is no terminal."""
    try:
        import fcntl
        import termios

        assert sys.__stdout__ is not None
        got = fcntl.ioctl(sys.__stdout__.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
    except (ImportError, OSError, ValueError, AssertionError):
        return None
    rows, columns, width, height = struct.unpack("HHHH", got)
    return (width // columns, height // rows) if rows and columns and width and height else None


def widget(kind: Way, size: Cell | None, app: App[Any]) -> type[Widget]:
    """textual-image's widget; its `image` is a PIL picture. size: of a character."""
    widgets, terminal, tgp = _library()
    terminal.get_cell_size._result = terminal.CellSize(*(size or _USUAL))  # it would ask, and take keys
    if kind is Way.KITTY:
        tgp._send_tgp_message = _through(app)
        return widgets.TGPImage
    return widgets.SixelImage if kind is Way.SIXEL else widgets.HalfcellImage


@cache
def _library() -> tuple[Any, Any, Any]:
    """textual-image asks the terminal when it is imported, unless what is printed goes elsewhere."""
    stdout = sys.__stdout__
    with Path(os.devnull).open("w") as nowhere:
        sys.__stdout__ = nowhere  # type: ignore[misc]
        try:
            from textual_image import _terminal, widget
            from textual_image.renderable import tgp
        finally:
            sys.__stdout__ = stdout  # type: ignore[misc]
    return widget, _terminal, tgp


def _through(app: App[Any]) -> Any:
    """Kitty's commands in their turn with the rest of what the app draws: written beside it, one could fall into the
    middle of the other."""

    def send(*, payload: str | None = None, **keys: int | str | None) -> None:
        said = ",".join(f"{key}={value}" for key, value in keys.items() if value is not None)
        if (driver := app._driver) is not None:
            driver.write(f"\x1b_G{said}{f';{payload}' if payload else ''}\x1b\\")

    return send
