"""What a conversation's calls work with: the same place and rights for all of a session, the rest its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deskagent.agent.apply import apply_patch
from deskagent.agent.converse.rights import Rights
from deskagent.agent.front import Printed, Question
from deskagent.agent.recorder import Recorder
from deskagent.session import talk
from deskagent.terminal.environment import base_env
from deskagent.tools.base import Changes, Context
from deskagent.tools.jobs import Jobs


@dataclass(frozen=True)
class Place:
    """choose: puts a question to the person, None where there is none."""

    project: Path
    rights: Rights
    choose: Callable[[Question, tuple[str, ...]], str] | None

    def contexts(self, recorder: Recorder, jobs: Jobs, who: str = "") -> Callable[[str], Context]:
        """Makes a call's context from its id. who: the subagent that calls, "" for the session's own conversation."""
        seen: dict[str, str] = {}
        env = base_env(pty=True)

        def change(changes: Changes) -> str:
            return apply_patch(recorder, self.project, changes)

        def plan(todos: list[tuple[str, str]]) -> None:
            recorder.emit(talk.TodosSet(todos=tuple(talk.Todo(text, state) for text, state in todos)))

        def context(call: str) -> Context:
            def ask(question: str, choices: tuple[str, ...]) -> str:
                shown = f"{who}: {question}" if who else question
                return self.choose(Question(shown, "", f"ask:{call}"), choices) if self.choose else ""

            sandbox, policy = self.rights.now
            return Context(
                project=self.project,
                call=call,
                sandbox=sandbox,
                policy=policy,
                env=env,
                seen=seen,
                change=change,
                keep=recorder.journal.blobs.put,
                say=lambda text: recorder.pass_on(Printed(call, text)),
                ask=ask,
                plan=plan,
                jobs=jobs,
            )

        return context
