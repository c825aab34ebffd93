"""One `fix` from opening the session to closing it: lock, sandbox, loop, apply; every way out is reported."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deskagent.agent.apply import apply_patch
from deskagent.agent.fix import Fix, FixRequest
from deskagent.agent.front import Front, Question
from deskagent.agent.loop import State
from deskagent.agent.permissions import Consent, Gate, Mode, is_trusted
from deskagent.agent.recorder import Recorder
from deskagent.agent.report import Report, Status
from deskagent.agent.signals import Stopped
from deskagent.agent.workspace import project_root, workspace_lock
from deskagent.errors import DeskagentError
from deskagent.session import events
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import Unconfined, find_sandbox

INTERNAL_ERROR = 70
"""Exit code of a fault in deskagent itself (EX_SOFTWARE of sysexits.h)."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FixOptions:
    """The command line of `fix`, as plain data."""

    request: str
    start: Path
    env: Mapping[str, str]
    argv: tuple[str, ...]
    test: str | None
    effort: str
    max_seconds: float | None
    max_candidates: int | None
    files: tuple[str, ...]
    apply: bool
    mode: Mode

    def as_dict(self) -> dict[str, object]:
        """What the journal keeps: everything but the environment."""
        kept = {
            f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in ("env", "argv")
        }
        return kept | {"start": str(self.start), "mode": str(self.mode)}


def run_fix(options: FixOptions, front: Front, report: Report) -> None:
    """Runs the whole of it and fills `report`. Raises nothing that a person or the system can cause."""
    with contextlib.ExitStack() as stack:
        try:
            project = project_root(options.start)
            journal = Journal.create(project, argv=options.argv, mode=str(options.mode))
            stack.callback(_shut, journal)
            report.session_id = journal.id
            report.recorder = Recorder(journal, front)
            for record in journal.read():
                front.show(record.event)
            _run(options, front, report, project, stack)
        except DeskagentError as error:
            report.fail(error, error.exit_code)
        except Stopped as stop:
            report.fail(stop, stop.exit_code)
        except Exception as error:
            _log.exception("a fault in deskagent")
            report.fail(error, INTERNAL_ERROR)
        finally:
            _close(report)


def _run(
    options: FixOptions, front: Front, report: Report, project: Path, stack: contextlib.ExitStack
) -> None:
    recorder = report.recorder
    assert recorder is not None
    recorder.emit(events.Request(text=options.request, options=options.as_dict()))
    writes = options.apply and options.mode is not Mode.PLAN
    if writes:
        stack.enter_context(workspace_lock(project))
    sandbox = Unconfined() if options.mode is Mode.FULL else find_sandbox()
    gate = Gate(options.mode, sandbox.rung, front.interactive, is_trusted(project))
    request = FixRequest(
        text=options.request,
        project=project,
        start=options.start.resolve(),
        env=options.env,
        test=options.test,
        effort=options.effort,
        max_seconds=options.max_seconds,
        max_candidates=options.max_candidates,
        files=options.files,
    )
    fix = report.fix = Fix(request, recorder, gate, sandbox)
    state = fix.run()
    if state is State.DONE and fix.chosen is None:
        report.end(Status.NOTHING_TO_FIX)
    elif state is State.DONE:
        report.end(Status.FIXED)
        _apply(options, fix, gate, front, report)
    else:
        report.end(Status.LIMIT if fix.limited else Status.NOT_FIXED)


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
    apply_patch(fix.recorder, fix.request.project, fix.changes(fix.chosen))
    report.applied = True


def _shut(journal: Journal) -> None:
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
