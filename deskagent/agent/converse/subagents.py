"""Subagents: conversations of their own inside a session, with no wider rights than the one that calls them.

Mode, rules, sandbox and approvals are the caller's own; what they use counts on the caller's limits; they start no
further ones. All that they say and do is in the session's journal, so that one that was interrupted can go on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deskagent.agent.converse.acting import Decision, Hands, Watch
from deskagent.agent.converse.compact import Compactor
from deskagent.agent.converse.contexts import Place
from deskagent.agent.converse.gate import Gate
from deskagent.agent.converse.talk import Talk
from deskagent.agent.front import Passing
from deskagent.agent.given.kinds import Kind
from deskagent.agent.loop import State
from deskagent.agent.recorder import Recorder
from deskagent.errors import UsageError
from deskagent.messages import Answer, Outcome, Result, Text
from deskagent.providers.base import Provider
from deskagent.session import events, talk
from deskagent.session.event import Event
from deskagent.session.history import History
from deskagent.tools import registry
from deskagent.tools.agent import AgentArguments
from deskagent.tools.base import Context, Tool, ToolError, Wish
from deskagent.tools.fitting import fitting
from deskagent.tools.jobs import Jobs

NOT_FOR_THEM = frozenset({"agent", "plan"})
_TICK = 0.1
_LONGEST = 60_000
"""Characters of a last message that are its result; the rest stays in the session."""
_ROLE = """You are a subagent{named}: another agent gave you one task, and sees nothing of your work but your last \
message. So end with a message that holds all that it has to know. Nobody answers questions about the task but the \
person, by `ask`. You can't start subagents.{body}"""


class Inner(Recorder):
    """Writes a subagent's conversation into its session as such; what is about files and commands as it is."""

    def __init__(self, outer: Recorder, agent: str, history: History) -> None:
        super().__init__(outer.journal, outer.front)
        self._outer, self._agent, self._history = outer, agent, history
        self.steps, self.notices, self.changing = outer.steps, outer.notices, outer.changing

    def new_id(self, kind: str) -> str:
        return self._outer.new_id(kind)

    def pass_on(self, event: Passing) -> None:
        """Several at once would be a muddle: what they do is shown call by call."""

    def _keep(self, event: Event) -> None:
        if isinstance(event, events.OF_CONVERSATIONS):
            self._outer.emit(events.Within(agent=self._agent, event=event))
            self._history.take(event)
        else:
            self._outer.emit(event)


@dataclass(frozen=True)
class _Named:
    """The caller's own gate, which tells the person who asks."""

    gate: Gate
    who: str

    def decide(self, tool: str, wish: Wish) -> Decision:
        return self.gate.decide(tool, wish, self.who)


@dataclass
class Subagents:
    """kinds: by name. tools: makes those of a conversation from its recorder. watch: of a conversation's calls, from
    its history. caller: the conversation that they work for."""

    recorder: Recorder
    place: Place
    model: Callable[[str], tuple[Provider, bool]]
    kinds: Mapping[str, Kind]
    tools: Callable[[Recorder], Mapping[str, Tool[Any]]]
    watch: Callable[[History], Watch]
    caller: Talk | None = None
    _at_work: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def work(self, order: AgentArguments, context: Context) -> Result:
        """Runs one to its end, on this thread. Errors: ToolError for an order that can't be; TransientError where the
        session can't be saved."""
        assert self.caller is not None
        id, kind, history = self._who(order)
        with self._lock:
            if id in self._at_work:
                raise ToolError(f"{id} is at work already.")
            self._at_work.add(id)
        try:
            return self._worked(order, context, id, kind, history)
        finally:
            self._at_work.discard(id)

    def _worked(
        self, order: AgentArguments, context: Context, id: str, kind: Kind, history: History
    ) -> Result:
        provider, moves = self._model(kind)
        self.recorder.emit(
            talk.AgentBegun(
                id=id, call=context.call, name=kind.name, task=order.description, model=provider.name
            )
        )
        jobs = Jobs()
        try:
            child = self._conversation(id, kind, history, provider, moves, jobs, order.description)
            child.say((Text(order.task),))
            state = asyncio.run(_until(child, context.cancel))
        finally:
            jobs.close()
        return _result(child, state, id)

    def _who(self, order: AgentArguments) -> tuple[str, Kind, History]:
        if not order.resume:
            return self.recorder.new_id("agent"), self._kind(order.kind), History()
        name, inner = None, []
        for record in self.recorder.journal.read():
            match record.event:
                case talk.AgentBegun(id=order.resume) as begun:
                    name = begun.name
                case events.Within(agent=order.resume) as within:
                    inner.append(within.event)
        if name is None:
            raise ToolError(f"There was no subagent {order.resume!r}. Leave `resume` out for a new one.")
        return order.resume, self._kind(name), History(inner)

    def _kind(self, name: str) -> Kind:
        if not name:
            return Kind("", "")
        if name not in self.kinds:
            raise ToolError(f"There is no kind {name!r} of subagents. There are: {', '.join(self.kinds)}.")
        return self.kinds[name]

    def _model(self, kind: Kind) -> tuple[Provider, bool]:
        assert self.caller is not None
        try:
            return self.model(kind.model or self.caller.provider.name)
        except UsageError as error:
            if not kind.model:
                raise
            self.recorder.notice(
                "info", f"The subagent {kind.name} works with the model of its caller: {error.message}"
            )
            return self.model(self.caller.provider.name)

    def _conversation(
        self,
        id: str,
        kind: Kind,
        history: History,
        provider: Provider,
        moves: bool,
        jobs: Jobs,
        description: str,
    ) -> Talk:
        caller = self.caller
        assert caller is not None
        recorder, blobs = Inner(self.recorder, id, history), self.recorder.journal.blobs
        if "head" not in history.chosen:
            role = _ROLE.format(
                named=f" of the kind {kind.name}" if kind.name else "",
                body=f"\n\n{kind.body}" if kind.body else "",
            )
            head = f"{caller.system}\n\n{role}"
            recorder.emit(talk.Chosen(what="head", value=blobs.put(head.encode("utf-8", "replace"))))
        head = blobs.get(history.chosen["head"]).decode()
        tools = {
            name: tool
            for name, tool in self.tools(recorder).items()
            if name not in NOT_FOR_THEM and (kind.tools is None or name in kind.tools)
        }
        who = f"Subagent {kind.name or id} ({description})"
        told = registry.told(fitting(tools, provider.capabilities))
        hands = Hands(
            recorder,
            tools,
            _Named(self.place.rights.gate, who),
            self.place.contexts(recorder, jobs, who),
            self.watch(history),
        )
        return Talk(
            recorder,
            history,
            provider,
            hands,
            head,
            told,
            Compactor(recorder, history, provider, head, told),
            effort=caller.effort,
            cap=caller.cap,
            limits=caller.limits,
            moves=moves,
            meter=caller.meter,
        )


async def _until(child: Talk, cancel: threading.Event) -> State | None:
    """The conversation's end; None where it was cancelled."""
    work = asyncio.ensure_future(child.run())
    try:
        while not work.done():
            await asyncio.wait({work}, timeout=_TICK)
            if cancel.is_set():
                work.cancel()
        return await work
    except asyncio.CancelledError:
        return None
    finally:
        await child.provider.close()


def _result(child: Talk, state: State | None, id: str) -> Result:
    answers = [turn.text for turn in child.history.turns() if isinstance(turn, Answer)]
    last = next((text.strip() for text in reversed(answers) if text.strip()), "(it said nothing)")
    if len(last) > _LONGEST:
        last = f"{last[:_LONGEST]}\n({len(last) - _LONGEST} characters more are in the session)"
    if state is State.DONE:
        return Result.of(f"{last}\n(This was {id}; `resume` lets it go on.)")
    why = "It was cancelled" if state is None else f"It ended early: {child.why}"
    outcome = Outcome.CANCELLED if state is None else Outcome.FAILED
    return Result.of(f"{why} What it said last:\n{last}\n(This was {id}; `resume` lets it go on.)", outcome)
