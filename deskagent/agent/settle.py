"""Finding out what an interrupted change left behind, and making it whole: all of it, or nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from deskagent.agent import opened
from deskagent.agent.recorder import Recorder
from deskagent.errors import DeskagentError, TransientError
from deskagent.repo import apply, beneath
from deskagent.repo.apply import State
from deskagent.session import events, index, store
from deskagent.session.blobs import Blobs
from deskagent.session.journal import Journal


def settle(
    recorder: Recorder,
    project: Path,
    blobs: Blobs,
    intent: events.ApplyIntent,
    *,
    into: Journal | None = None,
) -> events.ApplyResult:
    """Brings the files of `intent` to one state and writes the result into its journal.

    All as after: it was done. Otherwise those that are as after go back, so that nothing of it was done. A
    file that is neither was changed by somebody since: then nothing is touched. Raises what `repo.apply` raises.
    """
    result = _settled(project, blobs, intent)
    if into is None:
        recorder.emit(result)
    else:
        into.append(result)
    recorder.notice("warning" if result.left else "info", f"An interrupted change: {result.detail}")
    return result


def settle_earlier(recorder: Recorder, project: Path) -> None:
    """Settles what earlier sessions in `project` left open. The workspace must be locked."""
    for summary in index.sessions(project):
        if not summary.unsettled or summary.id == recorder.journal.id or Path(summary.cwd) != project:
            continue
        try:
            with Journal.open(store.find(summary.id)) as journal:
                settle_session(recorder, project, journal)
        except TransientError as error:
            recorder.notice(
                "warning", f"A change of session {summary.id} is not settled yet: {error.message}"
            )
        except DeskagentError as error:
            recorder.notice("error", f"A change of session {summary.id} can't be settled: {error.message}")


def settle_session(recorder: Recorder, project: Path, journal: Journal) -> None:
    """Settles what the session in `journal` left open."""
    own = journal is recorder.journal
    for intent in opened.read(journal).unsettled:
        settle(recorder, project, journal.blobs, intent, into=None if own else journal)


def left_open(recorder: Recorder, project: Path) -> None:
    """Says, where nothing may be written, that there is something to settle."""
    for summary in index.sessions(project):
        if summary.unsettled and Path(summary.cwd) == project and summary.id != recorder.journal.id:
            recorder.notice(
                "warning",
                f"Session {summary.id} was interrupted while it changed files; the tree may hold a part of that. "
                "A run that may write, or `deskagent undo`, settles it.",
            )


def states_of(project: Path, changes: apply.Patch) -> dict[str, State]:
    """What each file holds now, as `apply.recover` says it, also where its folder is gone."""
    absent = {path: pair for path, pair in changes.items() if not (project / path).parent.is_dir()}
    found = apply.recover(project, {path: pair for path, pair in changes.items() if path not in absent})
    for path, (before, after) in absent.items():
        found[path] = State.AFTER if after is None else State.BEFORE if before is None else State.OTHER
    return found


def set_modes(project: Path, files: Iterable[events.FileChange]) -> None:
    """Gives files that came into being the modes they are to have."""
    for file in files:
        if file.before is not None or file.after is None:
            continue
        *folders, leaf = beneath.split(file.path)
        with contextlib.suppress(OSError), beneath.folder(project, tuple(folders)) as at:
            fd = beneath.open_regular(at, leaf)
            try:
                os.fchmod(fd, file.mode & 0o777)
            finally:
                os.close(fd)


def _settled(project: Path, blobs: Blobs, intent: events.ApplyIntent) -> events.ApplyResult:
    def contents(name: str | None) -> bytes | None:
        return None if name is None else blobs.get(name)

    changes = {file.path: (contents(file.before), contents(file.after)) for file in intent.files}
    # An earlier try to settle it may have been cut off on its way back.
    states_of(project, {path: (after, before) for path, (before, after) in changes.items()})
    states = states_of(project, changes)
    names = ", ".join(sorted(changes))
    left = tuple(sorted(path for path, state in states.items() if state is State.OTHER))
    done = {path for path, state in states.items() if state is State.AFTER}
    if left:
        return events.ApplyResult(
            id=intent.id,
            ok=False,
            left=left,
            detail=f"{', '.join(left)} changed since, so nothing was touched of {names}.",
        )
    if len(done) == len(changes):
        set_modes(project, intent.files)
        return events.ApplyResult(
            id=intent.id, ok=True, detail=f"it was complete, and not reported yet ({names})."
        )
    how = "nothing of it had been done"
    if done:
        apply.apply(project, {path: (changes[path][1], changes[path][0]) for path in done})
        set_modes(project, [_turned(file) for file in intent.files if file.path in done])
        how = f"a part had been done and went back ({', '.join(sorted(done))})"
    return events.ApplyResult(id=intent.id, ok=False, detail=f"{how}; as before: {names}.")


def _turned(file: events.FileChange) -> events.FileChange:
    return events.FileChange(path=file.path, before=file.after, after=file.before, mode=file.mode)
