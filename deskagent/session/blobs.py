"""Contents kept beside a journal under their SHA-256: on the disk before an event may name them."""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
from pathlib import Path

from deskagent.errors import DeskagentError
from deskagent.session import files

_NAME = re.compile("[0-9a-f]{64}")


class Blobs:
    """The blobs of one session, in `folder` (made at the first `put`)."""

    def __init__(self, folder: Path, *, write: bool) -> None:
        self._folder = folder
        self._write = write
        self._lock = threading.Lock()
        self._durable = False  # whether the folder's own name is

    def put(self, data: bytes) -> str:
        """Stores `data` durably and returns its name, 64 hexadecimal digits. TransientError if the disk
        can't."""
        if not self._write:
            raise DeskagentError(f"The session is open for reading only ({self._folder.parent}).")
        name = hashlib.sha256(data).hexdigest()
        path = self._folder / name
        with self._lock, files.storage_errors("save a file's contents", path):
            if not self._durable:
                with contextlib.suppress(FileExistsError):
                    files.make_dir(self._folder)
                files.sync_dir(self._folder.parent)
                self._durable = True
            # A blob that a killed process left may not be in the folder for good, or be damaged since.
            if path.is_file() and path.read_bytes() == data:
                files.sync_dir(self._folder)
            else:
                files.replace(path, data)
        return name

    def names(self) -> list[str]:
        """The names of all that is stored, sorted."""
        with files.storage_errors("list stored contents", self._folder):
            found = self._folder.iterdir() if self._folder.is_dir() else ()
            return sorted(path.name for path in found if _NAME.fullmatch(path.name))

    def get(self, name: str) -> bytes:
        """The contents named `name`. DeskagentError if they are missing or not what was stored."""
        path = self._folder / name
        if not _NAME.fullmatch(name):
            raise DeskagentError(f"{name!r} is no blob's name: 64 hexadecimal digits are.")
        with files.storage_errors("read stored contents", path):
            if not path.is_file():
                raise DeskagentError(f"The stored contents {name} are missing ({path}).")
            data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != name:
            raise DeskagentError(f"The stored contents {name} are damaged ({path}).")
        return data
