"""Writing a verified patch into the project: contents saved, intent synced, then the files, then the result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deskagent.agent.recorder import Recorder
from deskagent.errors import DeskagentError
from deskagent.repo import apply
from deskagent.session import events

Changes = Mapping[str, tuple[bytes, bytes]]
"""Project-relative path → contents before and after."""


def apply_patch(recorder: Recorder, project: Path, changes: Changes) -> None:
    """Applies `changes` or leaves the tree as it was. Raises what `repo.apply` raises, with that on record."""
    blobs = recorder.journal.blobs
    files = tuple(
        events.FileChange(path=path, before=blobs.put(before), after=blobs.put(after))
        for path, (before, after) in sorted(changes.items())
    )
    intent = events.ApplyIntent(id=recorder.new_id("apply"), files=files)
    recorder.emit(intent)
    try:
        apply.apply(project, changes)
    except DeskagentError as error:
        recorder.emit(events.ApplyResult(id=intent.id, ok=False, detail=str(error)))
        raise
    recorder.emit(events.ApplyResult(id=intent.id, ok=True))
