"""Changing the mode of a conversation while it goes on: by the person's word, or by a plan that they approve.

What the model is told of it is said behind all that was sent, so that the prefix stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deskagent.agent.converse import prompt
from deskagent.agent.converse.rights import Rights
from deskagent.agent.front import Question
from deskagent.agent.permissions import Mode
from deskagent.agent.recorder import Recorder
from deskagent.messages import Author, Outcome, Result, Text
from deskagent.session import talk
from deskagent.tools.jobs import Jobs

_ASKING, _FREELY, _NO = "ask before each change", "don't ask inside the sandbox", "no"
_TO = {_ASKING: Mode.ASK, _FREELY: Mode.AUTO}


@dataclass(frozen=True)
class Modes:
    """choose: as in Place. jobs: those of the session."""

    recorder: Recorder
    rights: Rights
    jobs: Jobs
    choose: Callable[[Question, tuple[str, ...]], str] | None

    def change(self, mode: Mode) -> None:
        """By the person's word."""
        before = self.rights.mode
        if mode is before:
            return
        self._set(mode)
        if words := prompt.of_mode(mode, str(before)):
            self.recorder.emit(
                talk.Spoken(id=self.recorder.new_id("turn"), parts=(Text(words),), author=Author.DESKAGENT)
            )

    def propose(self, plan: str) -> Result:
        """Puts a plan to the person."""
        if self.rights.mode is not Mode.PLAN:
            return Result.of("This is not plan mode: there is nothing to wait for, begin.", Outcome.FAILED)
        if self.choose is None:
            return Result.of(
                "Nobody is there to approve it, so plan mode stays. Give the plan as your answer.",
                Outcome.FAILED,
            )
        answer = self.choose(Question("Go ahead with this plan?", plan, "plan"), (*_TO, _NO))
        if answer in _TO:
            self._set(_TO[answer])
            return Result.of(
                f"The person approved the plan. {prompt.of_mode(_TO[answer], str(Mode.PLAN))} Begin."
            )
        more = answer.removeprefix(_NO).strip(" :")
        told = f" They say: {more}" if more else " Ask what should be different, or wait for what they say."
        return Result.of(f"The person did not approve the plan; plan mode stays.{told}", Outcome.REFUSED)

    def _set(self, mode: Mode) -> None:
        self.rights.change(mode)
        self.recorder.emit(talk.Chosen(what="mode", value=str(mode)))
        if mode is Mode.PLAN and self.jobs.running:
            self.jobs.close()  # they were let loose on the files
            self.recorder.notice(
                "info", "Commands in the background were ended: in plan mode nothing changes."
            )
