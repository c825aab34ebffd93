"""The folder that the command was started in."""

from __future__ import annotations

from pathlib import Path

from deskagent.errors import UsageError


def here() -> Path:
    """The working folder. UsageError where it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("The folder you are in is gone.", hint="Change to one that exists.") from None
