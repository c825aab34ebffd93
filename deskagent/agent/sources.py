"""The project's source files as they were when first read, and candidates put into them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deskagent.agent.apply import Changes
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Candidate


class Sources:
    """Reads each file once, so that all candidates of a run are made for the same bytes."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._files: dict[str, SourceFile] = {}

    def read(self, path: str) -> SourceFile:
        """The file at the project-relative `path`. SourceError."""
        if path not in self._files:
            self._files[path] = SourceFile.read(self._project, path)
        return self._files[path]

    def was(self, path: str, raw: bytes) -> None:
        """The file is taken to hold `raw`, whatever the disk has."""
        self._files[path] = SourceFile.from_bytes(path, raw)

    def render(self, candidate: Candidate) -> Mapping[str, bytes]:
        """Path → contents with the candidate's edits."""
        paths = {edit.path for edit in candidate.edits}
        return {p: self.read(p).apply([e for e in candidate.edits if e.path == p]) for p in paths}

    def changes(self, files: Mapping[str, bytes]) -> Changes:
        """Path → contents before and after, for contents after."""
        return {path: (self.read(path).raw, after) for path, after in files.items()}
