"""Hooks in a conversation: what is said may be held up, a stop put off, and work ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskagent.agent.converse.acting import Hands
from deskagent.agent.converse.talk import Talk
from deskagent.agent.hooks import named
from deskagent.agent.hooks.running import Hooks
from deskagent.agent.loop import State
from deskagent.agent.recorder import Recorder
from deskagent.messages import Author, Said, Text
from deskagent.providers.base import Ask, Capabilities, Stop, Stopped, TextDelta
from deskagent.session.event import Event
from deskagent.session.history import History
from deskagent.session.journal import Journal
from deskagent.terminal.sandbox import Unconfined
from deskagent.terminal.types import Policy


class Model:
    name = "stand/in"
    capabilities = Capabilities(context=100_000)

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    async def stream(self, ask: Ask):
        self.asked.append(ask)
        yield TextDelta(0, f"answer {len(self.asked)}")
        yield Stopped(Stop.END)

    async def close(self) -> None:
        pass


class NoRoom:
    full = True

    async def __call__(self, words: str = "") -> bool:
        return False


class Front:
    interactive = False

    def __init__(self, history: History) -> None:
        self.history = history

    def ask(self, question: object) -> bool:
        return False

    def show(self, event: object) -> None:
        if isinstance(event, Event):
            self.history.take(event)


@pytest.fixture
def make(project: Path) -> Callable[..., Any]:
    journals = []

    def build(**moments: str) -> Talk:
        named.own_file().parent.mkdir(parents=True, exist_ok=True)
        found = {on: [{"hooks": [{"command": command}]}] for on, command in moments.items()}
        named.own_file().write_text(json.dumps({"hooks": found}))
        journal = Journal.create(project)
        journals.append(journal)
        history = History()
        recorder = Recorder(journal, Front(history))
        hooks = named.named(project, trusted=False, warn=lambda text: None)
        made = Hooks(recorder, project, hooks, lambda: (Unconfined(), Policy()), lambda: "auto")
        hands = Hands(recorder, {}, object(), lambda call: None)  # type: ignore[arg-type,return-value]
        return Talk(recorder, history, Model(), hands, "You help.", (), NoRoom(), hooks=made)

    yield build
    for journal in journals:
        journal.close()


def texts(work: Talk) -> list[str]:
    return [p.text for turn in work.history.turns() for p in turn.parts if isinstance(p, Text)]


def test_what_is_said_can_be_held_up_and_is_taken_out(make: Callable[..., Any]) -> None:
    work = make(UserPromptSubmit="grep -q secret && echo 'no secrets' >&2 && exit 2; exit 0")
    work.say((Text("my secret"),))
    assert asyncio.run(work.run()) is State.FAILED and "no secrets" in work.why
    assert work.history.turns() == () and work.provider.asked == []
    work.say((Text("something else"),))
    assert asyncio.run(work.run()) is State.DONE
    assert texts(work) == ["something else", "answer 1"]


def test_context_is_told_once_and_before_the_answer(make: Callable[..., Any]) -> None:
    work = make(UserPromptSubmit="echo mind the tests")
    work.say((Text("go"),))
    asyncio.run(work.run())
    work.say((Text("on"),))
    asyncio.run(work.run())
    assert texts(work) == ["go", "mind the tests", "answer 1", "on", "mind the tests", "answer 2"]
    told = work.history.turns()[1]
    assert isinstance(told, Said) and told.author is Author.DESKAGENT


def test_a_stop_is_put_off_until_the_hook_is_content_but_not_for_ever(
    make: Callable[..., Any], project: Path
) -> None:
    work = make(Stop="test -e ready && exit 0; touch ready; echo run the tests >&2; exit 2")
    work.say((Text("go"),))
    assert asyncio.run(work.run()) is State.DONE
    assert texts(work) == ["go", "answer 1", "You can't stop yet: run the tests", "answer 2"]
    work = make(Stop="exit 2")
    work.say((Text("go"),))
    assert asyncio.run(work.run()) is State.DONE and len(work.provider.asked) == 4


def test_a_hook_can_end_all_work_and_is_told_before_room_is_made(
    make: Callable[..., Any], project: Path
) -> None:
    work = make(UserPromptSubmit="""echo '{"continue": false, "stopReason": "enough"}'""")
    work.say((Text("go"),))
    assert asyncio.run(work.run()) is State.FAILED and work.why == "A hook ended the work: enough"
    work = make(PreCompact="cat > compact.json")
    work.say((Text("go"),))
    assert asyncio.run(work.run()) is State.DONE
    assert json.loads((project / "compact.json").read_text())["trigger"] == "auto"
