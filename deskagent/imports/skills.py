"""Skills: folders with a SKILL.md, which every agent keeps alike."""

from __future__ import annotations

from pathlib import Path


def skills(folder: Path) -> list[Path]:
    """Those in `folder`, by name."""
    try:
        return sorted(path.parent for path in folder.glob("*/SKILL.md") if path.is_file())
    except OSError:
        return []
