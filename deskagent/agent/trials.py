"""Candidates and test runs as a journal has them, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deskagent.agent.apply import Changes, save
from deskagent.agent.cold import STALL_SECONDS, ColdProof
from deskagent.agent.past import Observed
from deskagent.agent.recorder import Recorder
from deskagent.repair.cold import ColdRun
from deskagent.repair.diff import readable
from deskagent.repair.report import Printed
from deskagent.repair.search import Trial
from deskagent.repair.types import Baseline, Candidate, Edit, Outcome, Status, Suspect, TestResult, Verdict
from deskagent.session import events
from deskagent.terminal.types import End, Result


def tried(trial: Trial) -> events.Trial:
    """A candidate's outcome, for the journal."""
    candidate, verdict = trial.candidate, trial.verdict
    return events.Trial(
        key=candidate.key,
        operator=candidate.operator,
        path=candidate.path,
        line=candidate.line,
        note=candidate.note,
        status=str(verdict.status),
        stage=verdict.stage,
        seconds=verdict.seconds,
    )


def found(trial: Trial, changes: Changes, files: tuple[events.FileChange, ...]) -> events.PatchFound:
    """A green candidate, for the journal."""
    candidate = trial.candidate
    return events.PatchFound(
        key=candidate.key,
        diff=readable(changes),
        operator=candidate.operator,
        path=candidate.path,
        line=candidate.line,
        note=candidate.note,
        number=trial.number,
        prior=candidate.prior,
        edits=tuple(events.TextEdit(e.path, e.start, e.end, e.new) for e in candidate.edits),
        files=files,
    )


def keep(recorder: Recorder, project: Path, trial: Trial, changes: Changes) -> None:
    """A green candidate into the session, with the files that it makes."""
    recorder.emit(found(trial, changes, save(recorder, project, changes, {})))


def suspected(suspects: Sequence[Suspect]) -> events.SuspectsFound:
    """The first of the suspects, for the journal."""
    places = (events.Place(path=s.path, line=s.line, score=s.score, reasons=s.reasons) for s in suspects[:50])
    return events.SuspectsFound(suspects=tuple(places))


def failing(baseline: Baseline | None, before: ColdProof | None) -> tuple[TestResult, ...]:
    """What failed in the first look; where that knows none by name, what the command printed."""
    seen = baseline.failing if baseline else ()
    printed = before.failing if before else ()
    return seen if any(test.id for test in seen) or not printed else printed


def candidate(patch: events.PatchFound) -> Candidate:
    """The candidate that was found."""
    return Candidate(
        edits=tuple(Edit(e.path, e.start, e.end, e.new) for e in patch.edits),
        operator=patch.operator,
        path=patch.path,
        line=patch.line,
        prior=patch.prior,
        note=patch.note,
        key=patch.key,
    )


def trial(patch: events.PatchFound, files: Mapping[str, bytes]) -> Trial:
    """The trial that found it; `files` are its contents after."""
    return Trial(patch.number, candidate(patch), files, Verdict(Status.GREEN))


def proof(observed: Observed) -> ColdProof:
    """A test run on record, as evidence. Of what it printed only the failing tests and the totals are left."""
    tests, result = observed.tests, observed.result
    failures = tuple(TestResult(t.id, Outcome(t.outcome), message=t.message) for t in tests.failures)
    printed = Printed(failures, tests.passing, tests.failing)
    if result is None:
        run = ColdRun(Result(End.EXITED, 0 if tests.green else 1, tests.seconds), printed)
    else:
        ended = Result(
            End(result.end),
            result.code,
            result.seconds,
            head=result.head.encode(),
            tail=result.tail.encode(),
            total=result.total,
        )
        run = ColdRun(ended, printed)
    silent = min(STALL_SECONDS, run.result.seconds) if run.result.end is End.CANCELLED else None
    return ColdProof(tests.command, run, silent, tests.left)
