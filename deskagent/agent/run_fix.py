"""One `fix` from opening the session to closing it: lock, sandbox, loop, apply; every way out is reported."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deskagent import __version__
from deskagent.agent import keeping, past, settle, which
from deskagent.agent.apply import apply_patch
from deskagent.agent.fix import Fix
from deskagent.agent.front import Front, Question
from deskagent.agent.loop import State
from deskagent.agent.past import Past
from deskagent.agent.permissions import Consent, Gate, Mode, is_trusted
from deskagent.agent.recorder import Recorder
from deskagent.agent.report import Report, Status
from deskagent.agent.request import FixOptions
from deskagent.agent.signals import Stopped
from deskagent.agent.workspace import check_globs, project_root, workspace_lock
from deskagent.errors import DeskagentError, UsageError
from deskagent.repair.model import find as model
from deskagent.session import events, talk
from deskagent.session.journal import Journal
from deskagent.terminal import temporary
from deskagent.terminal.sandbox import Unconfined, find_sandbox

INTERNAL_ERROR = 70
"""Exit code of a fault in deskagent itself (EX_SOFTWARE of sysexits.h)."""

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from deskagent.agent.repairing.race import Race
    from deskagent.providers.base import Provider

Opened = Callable[[str], "tuple[Provider, bool]"]
"""Makes the provider of a model's name, and says whether its server keeps the effort in front of a conversation."""
Chosen = tuple[Path | None, "Race | None"]
"""The folder of the checkpoint that ranks, and the models that work beside the search."""


def _none(name: str) -> tuple[Provider, bool]:
    raise UsageError(f"No model can be asked here: {name}.")


def run_fix(options: FixOptions, front: Front, report: Report, opened: Opened = _none) -> None:
    """Runs the whole of it and fills `report`. Raises nothing that a person or the system can cause. opened: opens a
    model of the person's by its name."""
    with contextlib.ExitStack() as stack:
        try:
            new = _models(options, opened) if options.session is None else None
            journal, project, before = _open(options)
            source = before.id if before is not None and before.id != journal.id else ""
            stack.callback(_shut, journal)
            report.session_id, report.resumed = journal.id, before is not None
            if before is not None and before.request is not None:
                options = options.going_on(before.request)
            chosen = new or _models(options, opened)
            # Named wrongly, nothing is written into a session that goes on.
            report.recorder = Recorder(journal, front)
            if before is None:
                for record in journal.read():
                    front.show(record.event)
            else:
                _go_on(options, report, before, source)
            _run(options, chosen, front, report, project, before, stack)
        except DeskagentError as error:
            report.fail(error, error.exit_code)
        except Stopped as stop:
            report.fail(stop, stop.exit_code)
        except Exception as error:
            _log.exception("a fault in deskagent")
            report.fail(error, INTERNAL_ERROR)
        finally:
            _close(report)


def _models(options: FixOptions, opened: Opened) -> Chosen:
    """The checkpoint that ranks, and the models that work beside the search. UsageError for a name that is none."""
    if options.model in (model.AUTO, model.NONE) and not options.race:
        return model.choose(options.model).folder, None
    from deskagent.agent.repairing.chosen import choose

    return choose(options, opened)


def _open(options: FixOptions) -> tuple[Journal, Path, Past | None]:
    """The session's journal, its project, and what it did before, where it is gone on with."""
    if options.session is None:
        project = project_root(options.start)
        return Journal.create(project, argv=options.argv, mode=str(options.mode)), project, None
    # A session that is named has its own folder, whatever this one is.
    here = Path() if options.session else project_root(options.start)
    journal = Journal.open(which.find(options.session, here), write=not options.fork)
    try:
        before = past.read(journal)
        project = Path(before.cwd)
        if before.request is None:
            raise UsageError(f"Session {journal.id} asked for nothing yet.", hint="Start a new one.")
        if not before.cwd or not project.is_dir():
            raise UsageError(
                f"The folder of session {journal.id} is gone: {before.cwd}.", hint="Bring it back first."
            )
    except BaseException:
        journal.close()
        raise
    if options.fork:
        with journal:
            forked = Journal.fork(journal)
        # What it changed is its own to settle and to undo.
        return forked, project, replace(before, changes=[])
    return journal, project, before


def _go_on(options: FixOptions, report: Report, before: Past, source: str) -> None:
    """Marks in the journal that it goes on, in a fork also from which session."""
    recorder = report.recorder
    assert recorder is not None
    report.request = options.request
    if options.new_limits:
        before.spent, before.seconds, before.searching = 0, 0.0, 0.0
    recorder.emit(
        events.SessionStarted(
            version=__version__,
            cwd=before.cwd,
            argv=options.argv,
            mode=str(options.mode),
            resumed=True,
            forked=source,
        )
    )
    for damage in recorder.journal.warnings:
        recorder.notice("warning", f"The session was damaged: {damage.text}")


def _run(
    options: FixOptions,
    chosen: Chosen,
    front: Front,
    report: Report,
    project: Path,
    before: Past | None,
    stack: contextlib.ExitStack,
) -> None:
    recorder = report.recorder
    assert recorder is not None
    recorder.emit(events.Request(text=options.request, options=options.as_dict()))
    check_globs(project, options.files)
    temporary.sweep()
    if options.apply and options.mode is not Mode.PLAN:
        stack.enter_context(workspace_lock(project))
        settle.settle_earlier(recorder, project)
        if before is not None and before.unsettled:
            settle.settle_session(recorder, project, recorder.journal)
            before.changes = past.read(recorder.journal).changes
    else:
        settle.left_open(recorder, project)
    sandbox = Unconfined() if options.mode is Mode.FULL else find_sandbox()
    gate = Gate(options.mode, sandbox.rung, front.interactive, is_trusted(project))
    request = options.as_request(project)
    folder, race = chosen
    found = model.judge(folder) if folder is not None else None
    fix = report.fix = Fix(request, recorder, gate, sandbox, before, found, race, began=report.started)
    if before is not None and race is not None and _asked_models(recorder.journal):
        recorder.notice("info", _ANEW)
    state = fix.run()
    if state is State.DONE and fix.chosen is None:
        report.end(Status.NOTHING_TO_FIX)
    elif fix.applied:
        report.end(Status.FIXED)
        report.applied, report.apply_note = True, "by an earlier run of this session"
    elif state is State.DONE:
        report.end(Status.FIXED)
        _apply(options, fix, gate, front, report)
    else:
        report.end(Status.LIMIT if fix.limited else Status.NOT_FIXED)
        if fix.limited and not fix.tried and request.max_seconds is not None:
            recorder.notice("warning", _no_time(request.max_seconds))


def _asked_models(journal: Journal) -> bool:
    """Whether models worked at the repair in an earlier run."""
    return any(isinstance(record.event, talk.AgentBegun) for record in journal.read())


_ANEW = (
    "Models begin anew: what they said and did in the earlier run is kept in the session, and patches of theirs that "
    "passed are checked again; their copies of the project are gone."
)


def _no_time(seconds: float) -> str:
    return (
        f"The limit of {seconds:g} s left no time to try an edit: running the tests as they are and finding suspects "
        "took all of it. Allow at least ten times what the tests take, and some seconds more."
    )


def _apply(options: FixOptions, fix: Fix, gate: Gate, front: Front, report: Report) -> None:
    assert fix.chosen is not None
    consent = gate.write()
    if not options.apply or consent is None:
        report.apply_note = "asked not to" if not options.apply else "this mode never writes"
        return
    patch = report.result()["patch"]
    if consent is Consent.ASK and not front.ask(Question("Apply this patch?", patch["diff"], "apply")):
        report.apply_note = "declined"
        return
    try:
        report.apply_note = apply_patch(fix.recorder, fix.request.project, fix.changes(fix.chosen))
        report.applied = True
    except Stopped:
        report.applied = past.read(fix.recorder.journal).changes[-1].made
        raise


def _shut(journal: Journal) -> None:
    keeping.close(journal)
    try:
        journal.close()
    except DeskagentError as error:
        _log.warning("the session could not be closed cleanly: %s", error)


def _close(report: Report) -> None:
    """The last event of the session, unless the store itself is what failed."""
    if report.recorder is None:
        return
    try:
        report.recorder.emit(
            events.SessionEnded(status=str(report.status), exit_code=report.exit_code, result=report.result())
        )
    except DeskagentError as error:
        _log.warning("the end of the session could not be saved: %s", error)
