"""Replays what a session claims, on clean copies of the tree that it was about, whatever the tree is by now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deskagent.agent import past, tree, trials, which
from deskagent.agent.cold import STALL_SECONDS, ColdProof, Silence
from deskagent.agent.front import Front, Question
from deskagent.agent.past import Observed, Past
from deskagent.agent.permissions import Consent, Gate, Mode, is_trusted
from deskagent.agent.rebuild import rebuild
from deskagent.errors import DeskagentError, UsageError
from deskagent.repair.beside import still
from deskagent.repair.cold import copy_for, run_in
from deskagent.repair.command import TestCommand, resolve
from deskagent.repo import git, snapshot
from deskagent.session import events
from deskagent.session.blobs import Blobs
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import Sandbox, Unconfined, find_sandbox
from deskagent.terminal.types import End, Limits

HOLDS, FAILS, UNKNOWN = "holds", "fails", "unknown"
_EXIT = {HOLDS: 0, FAILS: 1, UNKNOWN: 2}
_LONGEST = 1800.0


@dataclass(frozen=True)
class Side:
    """The tree without or with the patch: what the session claims, what the replay showed, and the judgement:
    `state` is "holds", "fails" or "unknown" with the reason in `why`."""

    name: str
    claimed: ColdProof
    seen: ColdProof
    state: str
    why: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "claimed": self.claimed.summary,
            "seen": self.seen.as_dict(),
            "failing": [test.id for test in self.seen.failing],
            "state": self.state,
            "why": self.why,
        }


@dataclass
class Replay:
    """A replay. `lost` are files that could not be had again, `moved` those that differ today."""

    session_id: str
    command: str
    recorded: events.TreeRecorded
    lost: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sides: list[Side] = field(default_factory=list)

    @property
    def status(self) -> str:
        states = {side.state for side in self.sides}
        return next((state for state in (UNKNOWN, FAILS) if state in states), HOLDS)

    def result(self) -> dict[str, Any]:
        """The event of type `result`."""
        return {
            "type": "result",
            "status": self.status,
            "exit_code": _EXIT[self.status],
            "session_id": self.session_id,
            "command": self.command,
            "files": self.recorded.files,
            "commit": self.recorded.commit,
            "moved": self.moved,
            "lost": self.lost,
            "notes": self.notes,
            **{side.name: side.as_dict() for side in self.sides},
        }


def find(name: str, project: Path) -> Path:
    """The folder of the session `name`; "" is the latest of `project`. UsageError."""
    return which.find(name, project)


def replay(session: Path, front: Front, *, env: Mapping[str, str], mode: Mode = Mode.ASK) -> Replay:
    """Runs the session's test command on the tree before and, where it found a patch, after.

    Nothing is written to the project or the session. UsageError where the session holds nothing to replay, its
    folder is gone, or the command may not or can't run.
    """
    with Journal.open(session, write=False) as journal:
        done = past.read(journal)
        before, recorded, patch, after = _claims(done)
        project = Path(done.cwd)
        if not project.is_dir():
            raise UsageError(
                f"The folder of session {done.id} is gone: {project}.", hint="Bring it back first."
            )
        entries = tree.load(recorded, journal.blobs)
        sandbox = Unconfined() if mode is Mode.FULL else find_sandbox()
        command = _command(done, before, project, env)
        _may_run(done, command, Gate(mode, sandbox.rung, front.interactive, is_trusted(project)), front)
        found = Replay(done.id, command.line, recorded)
        _compare_with_today(found, entries, patch, project)
        run = _Runner(project, command, sandbox, recorded, entries, journal.blobs, found)
        found.sides.append(_judge_before(trials.proof(before), run.side({}, before), found.lost))
        if patch is not None and after is not None:
            files = {f.path: None if f.after is None else journal.blobs.get(f.after) for f in patch.files}
            seen = run.side(files, after)
            left = still(found.sides[0].seen.run, seen.run, after.tests.left)
            found.sides.append(_judge_after(trials.proof(after), replace(seen, left=left), found.lost))
        return found


def _claims(
    done: Past,
) -> tuple[Observed, events.TreeRecorded, events.PatchFound | None, Observed | None]:
    """The run before, the tree, and for a session with a patch that too with its run."""
    if done.proof and done.proof.tree and done.proof.patch.files:
        return done.proof.before, done.proof.tree, done.proof.patch, done.proof.after
    if done.proof is None and done.seen is not None:
        return *done.seen, None, None
    raise UsageError(
        f"Session {done.id} can't be replayed: it doesn't hold the project as it was.",
        hint="It ended too early for that, the project was too large, or an older version wrote it.",
    )


def _command(done: Past, before: Observed, project: Path, env: Mapping[str, str]) -> TestCommand:
    options = done.request.options if done.request else {}
    given = options.get("test") is not None
    # One that was detected ran in the folder that speaks for it.
    ran = before.intent.cwd if before.intent else str(project)
    start = Path(str(options.get("start", project)) if given else ran)
    return resolve(before.tests.command, project, env, start=start)


def _may_run(done: Past, command: TestCommand, gate: Gate, front: Front) -> None:
    given = bool(done.request and done.request.options.get("test") is not None)
    if gate.run_tests(given=given, line=command.line) is Consent.ASK:
        question = Question("Run this command?", command.line, f"run:{command.line}")
        if not front.ask(question):
            raise UsageError("The test command was not allowed to run.")


def _compare_with_today(
    found: Replay,
    entries: Mapping[str, snapshot.Entry],
    patch: events.PatchFound | None,
    project: Path,
) -> None:
    try:
        now = snapshot.take(project)
    except (DeskagentError, OSError) as error:
        found.notes.append(f"The project as it is today could not be read: {error}")
        return
    today = {entry.path: entry for entry in now.entries}
    patched = {
        f.path for f in (patch.files if patch else ()) if f.path in today and today[f.path].digest == f.after
    }
    found.moved = [path for path in tree.changed(entries, today) if path not in patched]
    if now.commit != found.recorded.commit and git.is_repo(project):
        found.notes.append("git's HEAD is another commit now: tests that ask git see that one.")


@dataclass(frozen=True)
class _Runner:
    project: Path
    command: TestCommand
    sandbox: Sandbox
    recorded: events.TreeRecorded
    entries: Mapping[str, snapshot.Entry]
    blobs: Blobs
    found: Replay

    def side(self, files: Mapping[str, bytes | None], claimed: Observed) -> ColdProof:
        """The command on a clean copy with `files` put in."""
        seconds = min(_LONGEST, 60.0 + 5 * claimed.tests.seconds)
        bearable = STALL_SECONDS if trials.proof(claimed).stalled else None
        with copy_for(self.project, self.command, self.sandbox) as scratch:
            try:
                self.found.lost = rebuild(scratch, self.entries, self.recorded, self.blobs, self.project)
            except OSError as error:
                raise UsageError(
                    f"The copy can't be made as the project was: {error.strerror} ({error.filename})."
                ) from error
            scratch.write(files)
            with Silence(bearable) as silence:
                run = run_in(
                    scratch,
                    self.command,
                    sandbox=self.sandbox,
                    limits=Limits(seconds=seconds),
                    on_output=silence.heard,
                    cancel=silence.too_long,
                )
        return ColdProof(self.command.line, run, bearable if silence.too_long.is_set() else None)


def _judge_before(claimed: ColdProof, seen: ColdProof, lost: list[str]) -> Side:
    then, now = {t.id for t in claimed.failing}, {t.id for t in seen.failing}
    if claimed.green != seen.green:
        why = "the tests pass" if seen.green else "the tests fail"
    elif then != now and then and now:
        apart = sorted(then ^ now)
        why = f"other tests fail: {', '.join(apart[:5])}{' …' if len(apart) > 5 else ''}"
    else:
        why = ""
    return Side("before", claimed, seen, *_state(seen, why, lost, stalls=claimed.stalled))


def _judge_after(claimed: ColdProof, seen: ColdProof, lost: list[str]) -> Side:
    why = "" if seen.holds else "the tests fail"
    return Side("after", claimed, seen, *_state(seen, why, lost))


def _state(seen: ColdProof, why: str, lost: list[str], *, stalls: bool = False) -> tuple[str, str]:
    end = seen.run.result.end
    if end in (End.NOT_FOUND, End.SANDBOX) or (end is End.TIMEOUT and not stalls):
        return UNKNOWN, f"the command could not be run to its end: {seen.summary}"
    if why and lost:
        return UNKNOWN, f"{why}, but what could not be had again may be why: {', '.join(lost[:5])}"
    return (FAILS, why) if why else (HOLDS, "")
