"""A model that calls tools at a repair: a conversation in a copy of the project, until the tests accept its patch."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deskagent.agent.converse import prompt
from deskagent.agent.converse.acting import Hands
from deskagent.agent.converse.compact import Compactor
from deskagent.agent.converse.gate import NO, Gate
from deskagent.agent.converse.rules import Rule, Rules
from deskagent.agent.converse.talk import Talk
from deskagent.agent.loop import State
from deskagent.agent.permissions import Mode, is_trusted
from deskagent.agent.repairing import words
from deskagent.agent.repairing.asked import Asked
from deskagent.agent.repairing.copy import Copy
from deskagent.agent.repairing.desk import Desk
from deskagent.messages import Author, Call, Result, Text
from deskagent.repair.types import Status
from deskagent.session import talk
from deskagent.terminal.environment import base_env
from deskagent.tools import registry
from deskagent.tools.base import Context, ToolError
from deskagent.tools.fitting import fitting
from deskagent.tools.localise import Localise
from deskagent.tools.typed_edits import TypedEdits
from deskagent.tools.verify import Verify

TOOLS = ("read", "edit", "patch", "write", "glob", "grep", "terminal", "todo")
OPERATOR = "model.tools"
_ROUNDS = 4
"""Times that a model hears that its patch isn't accepted, and goes on."""


@dataclass(frozen=True)
class _InCopy(Hands):
    """A copy that stands at the project's own path is named by that path too."""

    seen_at: str = ""

    async def _done(self, call: Call) -> Result:
        own = re.compile(rf'("path"\s*:\s*"){re.escape(self.seen_at)}/')
        return await super()._done(Call(call.id, call.name, own.sub(r"\1", call.arguments), call.raw))


class Driver:
    """`work` comes back when the model has ended, with the reason in words; "" where the tests accept its patch."""

    def __init__(self, asked: Asked, copy: Copy, cancel: threading.Event) -> None:
        self._asked, self._copy, self._cancel = asked, copy, cancel
        self._desk = Desk(asked.problem, copy, asked.table, OPERATOR, asked.name)
        self.laid = self._desk.laid
        self._seen: dict[str, str] = {}
        self._env = base_env(copy.scratch.env, pty=True)
        self._talk = self._conversation()

    async def work(self, more: str = "") -> str:
        """more: what the model is told where it worked before."""
        self._say(more or words.first(self._asked.problem, self._asked.plan))
        for _ in range(_ROUNDS):
            state = await self._talk.run()
            told = await asyncio.to_thread(self._judged)
            if not told:
                return ""
            if state is not State.DONE:
                return self._talk.why
            self._say(told)
        return "It ended without a patch that the tests accept."

    def _judged(self) -> str:
        """What the model hears of its copy as it is now; "" where the tests accept it."""
        patch = self._desk.changes()
        if not patch.files:
            return "\n".join([*patch.notes, words.NOTHING])
        try:
            verdict = self._desk.judge(patch.files, "", replace(self._context(""), cancel=self._cancel))
        except ToolError as error:  # such as line ends that were changed
            if self._cancel.is_set():
                raise
            return str(error)
        return "" if verdict.status is Status.GREEN else words.judged(patch, verdict)

    def _say(self, text: str) -> None:
        self._talk.say((Text(text),), Author.PERSON)

    def _conversation(self) -> Talk:
        asked, recorder = self._asked, self._asked.recorder
        problem, provider = asked.problem, asked.provider
        rung = problem.sandbox.rung
        head = prompt.head(
            problem.project,
            rung=rung,
            trusted=is_trusted(problem.project),
            start=problem.start,
            more=(words.ROLE,),
        )
        recorder.emit(
            talk.Chosen(what="head", value=recorder.journal.blobs.put(head.encode("utf-8", "replace")))
        )
        bench = self._desk
        tools = registry.tools(None, (Localise(bench), TypedEdits(bench), Verify(bench)))
        own = {name: tool for name, tool in tools.items() if name in (*TOOLS, *_BENCH)}
        told = registry.told(fitting(own, provider.capabilities))
        return Talk(
            recorder,
            asked.history,
            provider,
            _InCopy(
                recorder, own, self._gate(asked.rules), self._context, seen_at=str(self._copy.scratch.seen_at)
            ),
            head,
            told,
            Compactor(recorder, asked.history, provider, head, told),
            effort=asked.effort,
            limits=asked.limits,
            moves=asked.moves,
            meter=asked.meter,
        )

    def _gate(self, rules: Rules) -> Gate:
        """What a conversation in `auto` mode may do, with nobody to ask; the tests were allowed to run before."""
        mode = Mode.FULL if self._asked.problem.full else Mode.AUTO
        rung = self._asked.problem.sandbox.rung
        rules = Rules((*rules.allow, *map(Rule, _BENCH)), rules.ask, rules.deny)
        return Gate(mode, rung, rules, False, lambda question, choices: NO, lambda rule: None)

    def _context(self, call: str) -> Context:
        copy, recorder = self._copy, self._asked.recorder

        def plan(todos: Sequence[tuple[str, str]]) -> None:
            recorder.emit(talk.TodosSet(todos=tuple(talk.Todo(text, state) for text, state in todos)))

        return Context(
            project=copy.root,
            call=call,
            sandbox=copy.sandbox,
            policy=copy.scratch.policy,
            env=self._env,
            seen=self._seen,
            change=copy.change,
            keep=recorder.journal.blobs.put,
            plan=plan,
            seen_at=copy.scratch.seen_at,
        )


_BENCH = (Localise.name, TypedEdits.name, Verify.name)
