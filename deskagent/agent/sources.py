"""The project's source files as they were when first read, and candidates put into them."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

from deskagent.agent.apply import Changes
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.types import Candidate


class Sources:
    """Reads each file once, so that all candidates of a run are made for the same bytes. For any number of threads."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._files: dict[str, SourceFile] = {}
        self._new: set[str] = set()
        self._reading = threading.Lock()

    def read(self, path: str) -> SourceFile:
        """The file at the project-relative `path`. SourceError."""
        with self._reading:
            if path not in self._files:
                self._files[path] = SourceFile.read(self._project, path)
            return self._files[path]

    def there(self, path: str) -> SourceFile | None:
        """As `read`; None where no file is, and for what is no source."""
        try:
            return None if path in self._new else self.read(path)
        except SourceError:
            return None

    def or_empty(self, path: str) -> SourceFile:
        """As `read`; an empty file where there is none, which then counts as new. SourceError."""
        if path not in self._files and not os.path.lexists(self._project / path):
            self._files[path] = SourceFile.from_bytes(path, b"")
            self._new.add(path)
        return self.read(path)

    def was(self, path: str, raw: bytes) -> None:
        """The file is taken to hold `raw`, whatever the disk has."""
        self._files[path] = SourceFile.from_bytes(path, raw)

    def render(self, candidate: Candidate) -> Mapping[str, bytes]:
        """Path → contents with the candidate's edits."""
        paths = {edit.path for edit in candidate.edits}
        return {p: self.or_empty(p).apply([e for e in candidate.edits if e.path == p]) for p in paths}

    def changes(self, files: Mapping[str, bytes]) -> Changes:
        """Path → contents before and after, for contents after."""
        return {
            path: (None if path in self._new else self.read(path).raw, after) for path, after in files.items()
        }
