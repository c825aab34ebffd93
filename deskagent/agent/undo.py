"""Taking back what a session changed, and bringing it back again: undoing an undo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskagent import __version__
from deskagent.agent import opened, past, settle, which
from deskagent.agent.apply import Changes, apply_patch
from deskagent.agent.front import Front, Question
from deskagent.agent.past import Change, standing
from deskagent.agent.recorder import Recorder
from deskagent.agent.workspace import workspace_lock
from deskagent.errors import DeskagentError, UsageError
from deskagent.repair.diff import readable
from deskagent.repo import apply
from deskagent.repo.apply import ConflictError
from deskagent.session import events, store, talk
from deskagent.session.blobs import Blobs
from deskagent.session.journal import Journal


@dataclass(frozen=True)
class Plan:
    """What an undo would do: `changes` from the files as they are, `modes` of those that come back, `undoes` the
    steps, `already` the files that are as before by now."""

    undoes: tuple[str, ...]
    changes: Changes
    modes: dict[str, int]
    already: tuple[str, ...]

    @property
    def diff(self) -> str:
        return readable(self.changes)


def find(name: str, project: Path) -> Path:
    """The folder of the session `name`; "" is the latest of `project` with changes that hold. UsageError."""
    if name and name != "last":
        return store.find(name)
    for summary in which.sessions_of(project):
        folder = store.find(summary.id)
        with Journal.open(folder, write=False) as journal:
            changes = past.read(journal).changes
        if _own(standing(changes)) or any(change.result is None for change in changes):
            return folder
    raise UsageError(
        f"No session of {project} has changed files that could be taken back.",
        hint="What was undone can be brought back by undoing the undo: deskagent undo SESSION --step ID.",
    )


def run_undo(
    session: Path, front: Front, *, step: str = "", argv: tuple[str, ...] = ()
) -> tuple[dict[str, Any], int]:
    """Takes back what the session in the folder `session` changed; asks `front` where it is interactive.

    Returns the result and the exit code. UsageError where files are no longer what the session made of them or
    there is nothing to take back; TransientError while another run works on the folder or the disk is full.
    """
    with Journal.open(session) as journal:
        project = Path(opened.read(journal).cwd)
        if not project.is_dir():
            raise UsageError(f"The folder of session {journal.id} is gone: {project}.")
        with workspace_lock(project):
            recorder = Recorder(journal, front)
            settle.settle_earlier(recorder, project)
            settle.settle_session(recorder, project, journal)
            what = plan(journal, project, step)
            if what.changes and front.interactive:
                question = Question("Take this back?", what.diff, f"undo:{journal.id}:{what.undoes}")
                if not front.ask(question):
                    return _result(recorder, what, "declined"), 0
            recorder.emit(
                events.SessionStarted(
                    version=__version__, cwd=str(project), argv=argv, mode="undo", resumed=True
                )
            )
            try:
                note = apply_patch(
                    recorder, project, what.changes, purpose="undo", undoes=what.undoes, modes=what.modes
                )
            except DeskagentError as error:
                recorder.emit(events.SessionEnded(status="error", exit_code=error.exit_code))
                raise
            result = _result(recorder, what, "undone", note)
            if not note:
                recorder.emit(events.SessionEnded(status="undone", exit_code=0, result=result))
            return result, 0


def undo_latest(recorder: Recorder, project: Path) -> str:
    """Takes back the latest change of the session that is at work in `project`, whose lock it holds; gives the diff.

    Errors: as `run_undo`.
    """
    own = _own(standing(past.read(recorder.journal).changes))
    if not own:
        raise UsageError("This session has no change that holds.")
    what = plan(recorder.journal, project, own[-1].intent.id)
    apply_patch(recorder, project, what.changes, purpose="undo", undoes=what.undoes, modes=what.modes)
    return what.diff


def undo_since(recorder: Recorder, project: Path, turn: str) -> str:
    """As `undo_latest`, for every change that was made after the turn `turn` was spoken, the latest first; "" where
    none was. One that can't be taken back ends it: those before it stay."""
    spoken, later = False, set[str]()
    for record in recorder.journal.read():
        spoken = spoken or (isinstance(record.event, talk.Spoken) and record.event.id == turn)
        if spoken and isinstance(record.event, events.ApplyIntent):
            later.add(record.event.id)
    diffs: list[str] = []
    while own := _own(standing(past.read(recorder.journal).changes)):
        if own[-1].intent.id not in later:
            break
        diffs.append(undo_latest(recorder, project))
    return "\n".join(diffs)


def plan(journal: Journal, project: Path, step: str = "") -> Plan:
    """What taking back all that holds (or the one `step`) comes to.

    UsageError where there is nothing, or where a file is no longer what the session made of it: then with a diff
    for each such file and the place of its contents from before.
    """
    steps = _steps(past.read(journal).changes, step)
    files = _joined(steps)
    changes = {
        path: (_contents(journal.blobs, file.after), _contents(journal.blobs, file.before))
        for path, file in files.items()
    }
    states = settle.states_of(project, changes)
    already = tuple(path for path, state in states.items() if state is apply.State.AFTER)
    wanted = {path: pair for path, pair in changes.items() if path not in already}
    _refuse_conflicts(project, wanted, files, journal)
    return Plan(
        undoes=tuple(change.intent.id for change in steps),
        changes=wanted,
        modes={path: files[path].mode for path in wanted},
        already=already,
    )


def _own(changes: list[Change]) -> list[Change]:
    return [change for change in changes if change.intent.purpose != "undo"]


def _steps(changes: list[Change], step: str) -> list[Change]:
    holding = standing(changes)
    if not step:
        if found := _own(holding):
            return found
        undone = [change.intent.id for change in holding]
        raise UsageError(
            "Nothing that this session changed holds any more."
            if undone
            else "This session has changed no files.",
            hint=f"To bring back what was undone last: --step {undone[-1]}" if undone else "",
        )
    for change in holding:
        if change.intent.id == step:
            return [change]
    known = ", ".join(change.intent.id for change in holding) or "none"
    raise UsageError(f"There is no step {step} that holds in this session.", hint=f"Steps: {known}.")


def _joined(steps: list[Change]) -> dict[str, events.FileChange]:
    """The steps as one change per file. UsageError where somebody else changed a file between two of them."""
    joined: dict[str, events.FileChange] = {}
    for change in steps:
        for file in change.intent.files:
            first = joined.get(file.path)
            if first and first.after != file.before:
                raise UsageError(
                    f"{file.path} was changed by somebody else before step {change.intent.id}.",
                    hint=f"Take back that step alone: --step {change.intent.id}",
                )
            joined[file.path] = events.FileChange(
                path=file.path,
                before=first.before if first else file.before,
                after=file.after,
                mode=first.mode if first else file.mode,
            )
    return joined


def _refuse_conflicts(
    project: Path, changes: Changes, files: dict[str, events.FileChange], journal: Journal
) -> None:
    found: list[str] = []
    for path, pair in changes.items():
        if pair[0] is None and not (project / path).parent.is_dir():
            continue  # its folder comes back with it
        try:
            apply.check(project, {path: pair})
        except ConflictError as error:
            before = files[path].before
            kept = journal.path / "blobs" / before if before else None
            where = f"The contents from before: {kept}" if kept else "There was no such file before."
            found.append(f"{error.message}\n{where}")
    if found:
        raise UsageError(
            "\n".join(["Files are no longer what the session made of them, so nothing was undone.", *found]),
            hint="Merge by hand, or bring the file back to what it was and try again.",
        )


def _contents(blobs: Blobs, name: str | None) -> bytes | None:
    return None if name is None else blobs.get(name)


def _result(recorder: Recorder, what: Plan, status: str, note: str = "") -> dict[str, Any]:
    holding = standing(past.read(recorder.journal).changes)
    own = holding[-1].intent.id if holding and holding[-1].intent.purpose == "undo" else ""
    return {
        "type": "result",
        "status": status,
        "exit_code": 0,
        "session_id": recorder.journal.id,
        "undid": list(what.undoes),
        "step": own if status == "undone" else "",
        "files": sorted(what.changes),
        "already": list(what.already),
        "diff": what.diff,
        "note": note,
        "notices": [notice.text for notice in recorder.notices],
    }
