"""Which test command a run uses: the one that was given, else the one detected; asked for where the gate says so."""

from __future__ import annotations

from pathlib import Path

from deskagent.agent.front import Question
from deskagent.agent.permissions import Consent, Gate
from deskagent.agent.recorder import Recorder
from deskagent.agent.request import FixRequest
from deskagent.errors import UsageError
from deskagent.repair.command import TestCommand, detect, resolve
from deskagent.terminal.types import Rung


def settle_on(request: FixRequest, gate: Gate, recorder: Recorder) -> TestCommand:
    """The test command that may run. UsageError: none given and none detected, or not allowed."""
    command = _given(request) if request.test is not None else _detected(request, recorder)
    if gate.run_tests(given=request.test is not None, line=command.line) is Consent.ASK:
        where = "without a sandbox" if gate.rung is Rung.NONE else "in the sandbox"
        folder = request.project / command.cwd
        question = Question(
            f"Run this command {where}, on copies of {folder}, as often as edits are tried?",
            _subject(command, folder),
            f"run:{command.line}",
        )
        if not recorder.front.ask(question):
            raise UsageError("The test command was not allowed to run.", hint='Name another: --test "…".')
    return command


def _given(request: FixRequest) -> TestCommand:
    assert request.test is not None
    return resolve(request.test, request.project, request.env, start=request.start)


def _subject(command: TestCommand, folder: Path) -> str:
    """The command with where it runs and what it changes in the environment."""
    changed = [f"  with {name}={value}" for name, value in sorted(command.env.items())]
    return "\n".join([command.line, f"  in {folder}", *changed])


def _detected(request: FixRequest, recorder: Recorder) -> TestCommand:
    found = detect(request.project, request.env, start=request.start)
    if found is None:
        raise UsageError(
            f"No test command was given and none was detected in {request.project}.",
            hint='Name it: --test "pytest -q".',
        )
    where = f" in {found.cwd}" if found.cwd != Path() else ""
    recorder.notice("info", f"Test command: `{found.line}`{where} ({found.how}).")
    return found
