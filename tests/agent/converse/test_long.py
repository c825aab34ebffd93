"""Two hundred steps with everything that goes wrong: no request is refused, no event lost, prefixes are kept."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import random
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from types import ModuleType

import pytest

from deskagent.agent.converse.acting import Decision, Hands, Verdict
from deskagent.agent.converse.compact import Compactor
from deskagent.agent.converse.talk import Limits, Talk
from deskagent.agent.recorder import Recorder
from deskagent.messages import Answer, Text
from deskagent.providers import wire
from deskagent.providers.base import (
    Ask,
    CallDelta,
    Capabilities,
    Delta,
    ProviderError,
    Stop,
    Stopped,
    TextDelta,
    ThinkingDelta,
    Trouble,
    Usage,
)
from deskagent.providers.endpoint import Endpoint
from deskagent.providers.remote import APIS
from deskagent.session import talk
from deskagent.session.event import Event
from deskagent.session.history import History
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy
from deskagent.tools import registry
from deskagent.tools.base import Context

CONTEXT = 12_000
STYLES = {"openai": "openai", "kimi": "kimi", "anthropic": "anthropic", "responses": "responses"}
"""Dialects → the strict server that checks them."""


def strict() -> ModuleType:
    if "standin" not in sys.modules:
        folder = Path(__file__).parents[2] / "providers" / "standin"
        spec = importlib.util.spec_from_file_location(
            "standin", folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec and spec.loader
        sys.modules["standin"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return importlib.import_module("standin.strict")


class Wild:
    """A model that a seed drives, behind a strict server of every style in turn; `kept` is the share of each request
    that the one before it had, outside of switches and summaries."""

    capabilities = Capabilities(context=CONTEXT, tiers=("low", "high", "max"))

    def __init__(self, dice: random.Random) -> None:
        self.dice, self.style, self.count = dice, "openai", 0
        self.kept: list[float] = []
        self._before: dict[str, tuple[str, list[str]]] = {}
        self.stop = lambda: None

    @property
    def name(self) -> str:
        return f"{self.style}/m"

    async def close(self) -> None:
        return None

    def checked(self, ask: Ask) -> None:
        endpoint = Endpoint.of(self.style, "m", self.capabilities, self.style)
        body = APIS[endpoint.dialect.api].request(ask, endpoint)
        strict().check(STYLES[self.style], wire.encode(body))
        messages = json.dumps(body.get("messages") or body.get("input"))
        summaries = [str(turn.parts) for turn in ask.turns if "were summarised" in str(turn.parts)]
        before, then = self._before.get(self.style, ("", []))
        if before and summaries == then and ask.choice == "auto":
            same = next(
                (n for n, (a, b) in enumerate(zip(before, messages, strict=False)) if a != b), len(before)
            )
            self.kept.append(same / len(before))
        self._before = {self.style: (messages[:-1], summaries)}

    async def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        self.checked(ask)
        self.count += 1
        dice = self.dice
        if ask.choice != "auto":
            yield TextDelta(0, "What was done: much.")
            yield Stopped(Stop.END)
            return
        if dice.random() < 0.5:
            yield ThinkingDelta(0, dice.choice(["", "Hm, let me see."]), "reasoning_content")
        kind = dice.random()
        if kind < 0.04:
            yield TextDelta(1, "I wi")
            raise ProviderError(dice.choice([Trouble.NETWORK, Trouble.CONTEXT]), "broken")
        if kind < 0.08:
            self.stop()
            await asyncio.sleep(0)
        for part in range(1, 1 + dice.randint(0, 3)):
            name, arguments = dice.choice(
                [
                    ("read", '{"path": "a.txt", "first": %d}' % dice.randint(1, 900)),  # noqa: UP031
                    ("grep", '{"pattern": "line %d"}' % dice.randint(1, 900)),  # noqa: UP031
                    ("read", '{"path": '),
                    ("read", ""),
                    ("dance", "{}"),
                    ("todo", '{"todos": [{"text": "one", "state": "doing"}]}'),
                ]
            )
            yield CallDelta(part, dice.choice(["call_0", f"call_{self.count}_{part}"]), name, arguments)
            if dice.random() < 0.03:
                self.stop()
                await asyncio.sleep(0)
        yield TextDelta(9, dice.choice(["", "So.", "é\u2028 \x00 \ud800 done"]))
        yield Usage(prompt=100, output=10)
        yield Stopped(dice.choice([Stop.CALLS, Stop.END, Stop.LENGTH]))


class Feeding:
    interactive = False

    def __init__(self, history: History) -> None:
        self._history = history

    def ask(self, question: object) -> bool:
        return False

    def show(self, event: object) -> None:
        if isinstance(event, Event):
            self._history.take(event)


class Open:
    def decide(self, tool: str, wish: object) -> Decision:
        return Decision(Verdict.ALLOW, "a test")


def opened(journal: Journal, project: Path, model: Wild) -> Talk:
    """A new process's view of the session."""
    history = History(record.event for record in journal.read())
    recorder = Recorder(journal, Feeding(history))
    tools = registry.tools(["read", "grep", "todo"])

    def context(call: str) -> Context:
        def plan(todos: list[tuple[str, str]]) -> None:
            recorder.emit(talk.TodosSet(todos=tuple(talk.Todo(*each) for each in todos)))

        return Context(
            project,
            call,
            Unconfined(),
            Policy(),
            {"PATH": "/usr/bin:/bin"},
            {},
            lambda c: "",
            lambda d: "",
            plan=plan,
        )

    told = registry.told(tools)
    room = Compactor(recorder, history, model, "You help.", told)
    hands = Hands(recorder, tools, Open(), context)
    return Talk(recorder, history, model, hands, "You help.", told, room, limits=Limits(turns=20))


async def some(one: Talk, model: Wild) -> None:
    task = asyncio.ensure_future(one.run())
    model.stop = lambda: task.cancel() and None
    try:
        await task
    except asyncio.CancelledError:
        pass


@pytest.mark.parametrize("seed", [1, 2])
def test_a_wild_session(seed: int, project: Path) -> None:
    (project / "a.txt").write_text("".join(f"line {n} of the file\n" for n in range(900)))
    dice = random.Random(seed)
    model = Wild(dice)
    with Journal.create(project) as journal:
        id = journal.id
    said = 0
    while model.count < 200:
        with Journal.open(id) as journal:
            one = opened(journal, project, model)
            said += 1
            one.say((Text(f"wish {said}"),))
            asyncio.run(some(one, model))
        if dice.random() < 0.3:
            model.style = dice.choice(list(STYLES))
    with Journal.open(id, write=False) as journal:
        events = [record.event for record in journal.read()]
        assert journal.warnings == ()
    history = History(events)
    words = [p.text for e in events if isinstance(e, talk.Spoken) and e.author == "person" for p in e.parts]  # type: ignore[union-attr]
    assert words == [f"wish {n}" for n in range(1, said + 1)]
    whole = [
        used.call.id for entry in history.all if isinstance(entry.turn, Answer) for used in entry.turn.used
    ]
    assert len(whole) == len(set(whole)) > 100
    assert sum(isinstance(event, talk.Compacted) for event in events) >= 3
    assert sum(model.kept) / len(model.kept) >= 0.95
