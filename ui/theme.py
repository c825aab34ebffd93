"""The colours, dark and light, and which of them the person has."""

from __future__ import annotations

import json
import os
from pathlib import Path

from textual.theme import Theme

from deskagent import paths
from deskagent.errors import DeskagentError
from deskagent.session import settings

DARK = Theme(
    name="deskagent-dark",
    primary="#86a8e7",
    secondary="#b9a3e3",
    accent="#e6b673",
    foreground="#d6d9e0",
    background="#15171c",
    surface="#1b1e25",
    panel="#252934",
    success="#8fc17f",
    warning="#e0b05c",
    error="#e87b83",
    dark=True,
    variables={"muted": "#979daa", "faint": "#626876"},
)
LIGHT = Theme(
    name="deskagent-light",
    primary="#2c5cb0",
    secondary="#694aa3",
    accent="#a0580a",
    foreground="#26282d",
    background="#fcfbf8",
    surface="#f4f2ec",
    panel="#e8e5dc",
    success="#357a2f",
    warning="#8a5a00",
    error="#b22c38",
    dark=False,
    variables={"muted": "#63666e", "faint": "#95979d"},
)
THEMES = (DARK, LIGHT)


def chosen() -> str:
    """The name of the theme: as the person chose, else as the terminal says of its background, else dark."""
    try:
        name = json.loads(_file().read_text("utf-8"))["theme"]
    except (OSError, ValueError, KeyError, TypeError):
        name = ""
    if name in {theme.name for theme in THEMES}:
        return name
    light = os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    return (LIGHT if light else DARK).name


def keep(name: str) -> None:
    """The choice holds from the next start on too. A setting that can't be saved is no reason to stop."""
    try:
        settings.save(_file(), json.dumps({"theme": name}) + "\n", "keep the theme")
    except DeskagentError:
        return


def _file() -> Path:
    return paths.config_dir() / "ui.json"
