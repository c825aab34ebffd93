"""Licences of checkpoints that the person has agreed to: a file each, by the checkpoint's fingerprint."""

from __future__ import annotations

import json
from pathlib import Path

from deskagent import paths
from deskagent.errors import TransientError


def is_agreed(fingerprint: str) -> bool:
    return _file(fingerprint).is_file()


def remember(fingerprint: str, name: str, folder: Path) -> None:
    """Notes the agreement. Errors: TransientError where it can't be kept."""
    file = _file(fingerprint)
    try:
        paths.private_dir(file.parent)
        file.write_text(json.dumps({"licence": name, "checkpoint": str(folder)}) + "\n", "utf-8")
    except OSError as error:
        raise TransientError(f"The agreement can't be kept in {file}: {error.strerror}.") from error


def _file(fingerprint: str) -> Path:
    return paths.data_dir() / "licences" / f"{fingerprint}.json"
