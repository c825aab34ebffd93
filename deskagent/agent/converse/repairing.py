"""The repair search as a tool: a failing test in, verified edits out; what it finds is applied when it is asked to."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import Field

from deskagent.agent import permissions
from deskagent.agent.front import Passing, Question
from deskagent.agent.loop import State
from deskagent.agent.permissions import Mode
from deskagent.agent.recorder import Recorder
from deskagent.agent.request import FixRequest
from deskagent.messages import Outcome, Result
from deskagent.repair.diff import readable
from deskagent.session.event import Event
from deskagent.tools.base import Arguments, Changes, Context, Effect, Tool, ToolError, Wish
from deskagent.tools.read import digest

if TYPE_CHECKING:
    from deskagent.agent.fix import Fix
    from deskagent.repair.search import Trial

_SUSPECTS, _RIVALS = 8, 4


class RepairArguments(Arguments):
    test: str = Field(
        "", description="the command that shows the failure, such as `pytest -q`; default: detected"
    )
    words: str = Field("", description="what is wrong, in words; names in it are searched first")
    seconds: float = Field(60, ge=5, le=600, description="how long to search")
    apply: str = Field("", description="the key of a patch that was found before: put it into the files")


class Repair(Tool[RepairArguments]):
    name = "repair"
    prompt = (
        "Searches for a small edit that makes failing tests pass, without thinking: it runs the tests with coverage, "
        "names the most suspicious lines, tries typed edits there in copies and proves what passes by the exact "
        "command. Cheap; use it early when a test fails. Read what it finds before applying it: it may be wrong."
    )
    arguments = RepairArguments

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._found: dict[str, Changes] = {}

    def wish(self, arguments: RepairArguments, context: Context) -> Wish:
        if arguments.apply:
            changes = self._patch(arguments.apply)
            return Wish(Effect.WRITE, readable(changes), f"apply:{arguments.apply}", paths=tuple(changes))
        line = arguments.test or "the tests"
        return Wish(
            Effect.RUN,
            f"{line}\n(as often as edits are tried, on copies of {context.project})",
            f"repair:{context.project}:{arguments.test}",
        )

    def run(self, arguments: RepairArguments, context: Context) -> Result:
        if arguments.apply:
            changes = self._patch(arguments.apply)
            note = context.change(changes)
            context.seen.update({path: digest(after or b"") for path, (_, after) in changes.items()})
            return Result.of("\n".join(filter(None, ["Applied.", note])))
        from deskagent.agent.fix import (
            Fix,  # with all kinds of edits, which take a third of a second to import
        )

        recorder = Recorder(self._recorder.journal, _Ended(self._recorder, context.cancel))
        request = FixRequest(
            text=arguments.words,
            project=context.project,
            start=context.project,
            env=dict(os.environ),
            test=arguments.test or None,
            max_seconds=arguments.seconds,
        )
        gate = permissions.Gate(Mode.AUTO, context.sandbox.rung, False, True)
        fix = Fix(request, recorder, gate, context.sandbox)
        try:
            state = fix.run()
        except _Cancelled:
            return Result.of("The search was cancelled.", Outcome.CANCELLED)
        return Result.of(self._told(fix, state))

    def _patch(self, key: str) -> Changes:
        if key not in self._found:
            raise ToolError(
                f"There is no patch {key!r} in this run; found were: {', '.join(self._found) or 'none'}."
            )
        return self._found[key]

    def _told(self, fix: Fix, state: State) -> str:
        command = f"Test command: {fix.command.line}" if fix.command else ""
        if state is State.DONE and fix.chosen is None:
            return f"{command}\nAll its tests pass already."
        failing = [f"failing: {test.id}\n{test.message[-600:]}" for test in fix.failing[:3]]
        suspects = [f"suspect: {s.path}:{s.line} {', '.join(s.reasons)}" for s in fix.suspects[:_SUSPECTS]]
        lines = [command, *failing, *suspects]
        if fix.chosen is None:
            why = "The time is up" if fix.limited else "No edit passes"
            return "\n".join([*lines, f"{why}: {fix.tried} edits were tried."])
        lines.append(f"An edit passes, proved by the exact command ({fix.tried} were tried):")
        lines.append(self._kept(fix, fix.chosen))
        if rivals := fix.rivals[:_RIVALS]:
            lines.append("Others that pass in the worker too:")
            lines += [self._kept(fix, rival) for rival in rivals]
        return "\n".join(lines)

    def _kept(self, fix: Fix, trial: Trial) -> str:
        changes = fix.changes(trial)
        key = f"patch-{len(self._found) + 1}"
        self._found[key] = changes
        return f"{key} ({trial.candidate.note}):\n{readable(changes, context=1)}"


class _Cancelled(BaseException):
    """The call was cancelled while it searched."""


class _Ended:
    """The conversation's front, which ends the search once its call is cancelled."""

    interactive = False

    def __init__(self, recorder: Recorder, cancel: threading.Event) -> None:
        self._show: Callable[[Event | Passing], None] = recorder.front.show
        self._cancel = cancel

    def ask(self, question: Question) -> bool:
        return False

    def show(self, event: Event | Passing) -> None:
        self._show(event)
        if self._cancel.is_set():
            raise _Cancelled
