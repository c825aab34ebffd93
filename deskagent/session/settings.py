"""A person's own settings on disk: a file is there whole, as it was or as it is to be, and for its owner alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from deskagent import paths
from deskagent.session.files import storage_errors


def save(path: Path, text: str, what: str) -> None:
    """what: as in `storage_errors`, whose errors it raises. Several processes may save at once: the last one wins."""
    with storage_errors(what, path):
        paths.private_dir(path.parent)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(path)
