"""Pictures of the screen: whole screens and windows by mss, on Wayland by grim and slurp.

Tried on X11. mss is made for macOS and Windows too, where it shows whole screens; grim is asked as its manual has it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from deskagent.errors import UsageError
from ui.pictures.desktop import Failed, ask, has

_WINDOW = re.compile(r'^\s+(0x[0-9a-f]+) "(.*)": \(.*\)\s+(\d+)x(\d+)\+.*\s\+?(-?\d+)\+?(-?\d+)$')
_SMALL = 32
"""Pixels; windows with a side below are no windows for people."""


@dataclass(frozen=True, slots=True)
class Target:
    """What can be captured. at: left, top, width, height on the screen; None where the person is asked by slurp."""

    name: str
    at: tuple[int, int, int, int] | None
    window: bool = False


def targets(project: Path) -> list[Target]:
    """What there is to capture, screens first. Blocks. Errors: UsageError."""
    if os.environ.get("WAYLAND_DISPLAY"):
        if not has("grim", project):
            raise UsageError("On Wayland pictures of the screen need grim, which isn't installed.")
        region = [Target("a region or window, picked with the mouse", None)] if has("slurp", project) else []
        return [*region, Target("the whole screen", (0, 0, 0, 0))]
    screens = _screens()
    return screens + (_windows(project) if os.environ.get("DISPLAY") else [])


def captured(target: Target, project: Path) -> bytes:
    """A PNG of it. Blocks, for as long as the person takes to pick. Errors: UsageError."""
    if os.environ.get("WAYLAND_DISPLAY"):
        if target.at is not None:
            return ask("grim", "-", project=project)
        try:
            picked = ask("slurp", project=project, seconds=120.0).decode().strip()
        except Failed as error:
            raise UsageError("Nothing was picked.") from error
        return ask("grim", "-g", picked, "-", project=project)
    assert target.at is not None
    left, top, width, height = target.at
    import mss
    import mss.tools

    try:
        with mss.MSS() as screen:
            whole = screen.monitors[0]
            box = (
                max(left, whole["left"]),
                max(top, whole["top"]),
                min(left + width, whole["left"] + whole["width"]),
                min(top + height, whole["top"] + whole["height"]),
            )
            if box[0] >= box[2] or box[1] >= box[3]:
                raise UsageError(f"{target.name} isn't on the screen any more.")
            shot = screen.grab(box)
    except mss.ScreenShotError as error:
        raise UsageError(f"The screen can't be captured: {error}.") from error
    png = mss.tools.to_png(shot.rgb, shot.size)
    assert png is not None
    return png


def _screens() -> list[Target]:
    import mss

    try:
        with mss.MSS() as screen:
            found = [(each["left"], each["top"], each["width"], each["height"]) for each in screen.monitors]
    except mss.ScreenShotError as error:
        raise UsageError(
            f"The screen can't be captured: {error}.",
            hint="Over ssh there is none: save a picture as a file, then @file, or ssh -X.",
        ) from error
    names = ["the whole screen", *(f"screen {n}" for n in range(1, len(found)))]
    return [
        Target(name, at) for name, at in zip(names, found[:1] if len(found) == 2 else found, strict=False)
    ]


def _windows(project: Path) -> list[Target]:
    """X11's windows that have a name, none where xwininfo isn't installed."""
    try:
        listed = ask("xwininfo", "-root", "-tree", project=project).decode("utf-8", "replace")
    except UsageError:
        return []
    found: dict[tuple[int, ...], Target] = {}
    for line in listed.splitlines():
        if (row := _WINDOW.match(line)) is None:
            continue
        width, height, left, top = (int(row[n]) for n in (3, 4, 5, 6))
        if min(width, height) >= _SMALL:
            found.setdefault((left, top, width, height), Target(row[2], (left, top, width, height), True))
    return list(found.values())
