"""Changing the project's files: contents saved, intent synced, then the files, then the result."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from deskagent.agent import settle
from deskagent.agent.recorder import Recorder
from deskagent.errors import DeskagentError
from deskagent.repo import apply, beneath
from deskagent.session import events

Changes = Mapping[str, tuple[bytes | None, bytes | None]]
"""Project-relative path → contents before and after; None where there is no file."""


def apply_patch(
    recorder: Recorder,
    project: Path,
    changes: Changes,
    *,
    purpose: str = "apply",
    undoes: Sequence[str] = (),
    modes: Mapping[str, int] | None = None,
) -> str:
    """Applies `changes` or leaves the tree as it was; `modes` are for files that come into being.

    Raises what `repo.apply` raises, with that on record. Returns what a person should know, usually nothing. Waits
    while another change of the same session is under way.
    """
    with recorder.changing:
        return _apply(recorder, project, changes, purpose, undoes, modes or {})


def _apply(
    recorder: Recorder,
    project: Path,
    changes: Changes,
    purpose: str,
    undoes: Sequence[str],
    modes: Mapping[str, int],
) -> str:
    files = save(recorder, project, changes, modes)
    intent = events.ApplyIntent(
        id=recorder.new_id("apply"), files=files, purpose=purpose, undoes=tuple(undoes)
    )
    recorder.emit(intent)
    try:
        _make_folders(project, files)
        apply.apply(project, changes)
        settle.set_modes(project, files)
    except DeskagentError as error:
        recorder.emit(events.ApplyResult(id=intent.id, ok=False, detail=str(error)))
        raise
    except BaseException:
        # A signal: it came before the files changed places, and they are as before; or after, and they aren't.
        settle.settle(recorder, project, recorder.journal.blobs, intent)
        raise
    try:
        recorder.emit(events.ApplyResult(id=intent.id, ok=True))
    except DeskagentError as error:
        # The tree holds the whole patch and the intent is on the disk: the next run settles it.
        return f"that it was applied could not be saved: {error.message}"
    return ""


def save(
    recorder: Recorder, project: Path, changes: Changes, modes: Mapping[str, int]
) -> tuple[events.FileChange, ...]:
    """The contents of `changes` as blobs, with the files' modes."""
    blobs = recorder.journal.blobs
    return tuple(
        events.FileChange(
            path=path,
            before=None if before is None else blobs.put(before),
            after=None if after is None else blobs.put(after),
            mode=_mode(project, path) or modes.get(path, 0o644),
        )
        for path, (before, after) in sorted(changes.items())
    )


def _mode(project: Path, path: str) -> int | None:
    try:
        return stat.S_IMODE((project / path).stat().st_mode) & 0o777
    except OSError:
        return None


def _make_folders(project: Path, files: Iterable[events.FileChange]) -> None:
    """The folders of files that come into being."""
    for file in files:
        if file.before is None and file.after is not None:
            folders = tuple(beneath.split(file.path)[:-1])
            # What stands in the way is reported by the apply itself.
            with contextlib.suppress(OSError), beneath.folder(project, folders, create=True) as at:
                os.fsync(at)
