"""Questions about paths; where the answer is forbidden it is no. (pathlib raises, and a PATH may name anything.)"""

# ruff: noqa: PTH110, PTH112, PTH113, PTH114

from __future__ import annotations

import os
from pathlib import Path


def exists(path: Path) -> bool:
    """Whether something is there, links followed."""
    return os.path.exists(path)


def is_dir(path: Path) -> bool:
    """Whether a folder is there, links followed."""
    return os.path.isdir(path)


def is_file(path: Path) -> bool:
    """Whether a plain file is there, links followed."""
    return os.path.isfile(path)


def is_link(path: Path) -> bool:
    """Whether a symbolic link is there, also one that leads nowhere."""
    return os.path.islink(path)
