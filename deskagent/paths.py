"""Where deskagent keeps things on this machine (XDG folders, overridable as a whole by DESKAGENT_HOME)."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_APP = "deskagent"


def _home() -> Path | None:
    value = os.environ.get("DESKAGENT_HOME")
    return Path(value).expanduser() if value else None


def data_dir() -> Path:
    """Sessions and what must outlive an update ($XDG_DATA_HOME/deskagent)."""
    home = _home()
    return home / "data" if home else Path(platformdirs.user_data_dir(_APP, appauthor=False))


def config_dir() -> Path:
    """The person's own settings and trusted folders ($XDG_CONFIG_HOME/deskagent)."""
    home = _home()
    return home / "config" if home else Path(platformdirs.user_config_dir(_APP, appauthor=False))


def cache_dir() -> Path:
    """What can be rebuilt at any time ($XDG_CACHE_HOME/deskagent)."""
    home = _home()
    return home / "cache" if home else Path(platformdirs.user_cache_dir(_APP, appauthor=False))


def runtime_dir() -> Path:
    """Sockets of this person's running processes ($XDG_RUNTIME_DIR/deskagent)."""
    home = _home()
    return home / "run" if home else Path(platformdirs.user_runtime_dir(_APP, appauthor=False))


def private_dir(path: Path) -> Path:
    """`path`, made with mode 0700 if absent."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path
