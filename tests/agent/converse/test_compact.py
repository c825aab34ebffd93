"""Room is made without losing what was asked, what is open, or anything on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from deskagent.agent.converse import compact, sizes
from deskagent.agent.converse.compact import Compactor, between
from deskagent.agent.front import Passing
from deskagent.agent.recorder import Recorder
from deskagent.messages import Answer, Author, Call, Image, Result, Said, Text, Used
from deskagent.providers.base import ProviderError, Stop, Stopped, TextDelta, Tool, Trouble
from deskagent.session import talk
from deskagent.session.event import Event
from deskagent.session.history import Entry, History


class Feeding:
    interactive = False

    def __init__(self, history: History) -> None:
        self._history = history

    def ask(self, question) -> bool:
        return False

    def show(self, event: Event | Passing) -> None:
        if isinstance(event, Event):
            self._history.take(event)


@pytest.fixture
def make(recorder: Recorder, scripted) -> Callable[..., Compactor]:
    """A conversation of ten rounds, each of a thousand tokens, in a context of ten thousand."""

    def build(*answers) -> Compactor:
        history = History()
        recorder.front = Feeding(history)
        for n in range(10):
            recorder.emit(talk.Spoken(id=f"u{n}", parts=(Text(f"wish number {n}"),)))
            recorder.emit(talk.ModelAsked(id=f"a{n}", model="stand/in"))
            recorder.emit(talk.PartCame(ask=f"a{n}", part=Call(f"c{n}", "read", '{"path": "f%d"}' % n)))  # noqa: UP031
            recorder.emit(talk.CallEnded(id=f"c{n}", result=Result.of("x" * 3300)))
        recorder.emit(talk.TodosSet(todos=(talk.Todo("write the tests", "doing"),)))
        provider = scripted(list(answers))
        provider.capabilities = type(provider.capabilities)(context=10_000)
        return Compactor(recorder, history, provider, "You help.", ())

    return build


def summary_of(one: Compactor) -> str:
    (said,) = [t for t in one.history.turns() if isinstance(t, Said) and t.author is Author.DESKAGENT]
    return "".join(part.text for part in said.parts if isinstance(part, Text))


SUMMARY = [TextDelta(0, "Goal. All wishes."), Stopped(Stop.END)]


def test_the_middle_becomes_a_summary_with_the_persons_words_and_the_todos(make) -> None:
    one = make(SUMMARY)
    assert one.full
    before = one.history.all
    assert asyncio.run(one())
    assert not one.full
    told = summary_of(one)
    assert "Goal. All wishes." in told and "> wish number 3" in told and "[doing] write the tests" in told
    turns = one.history.turns()
    assert turns[0] == before[0].turn and turns[-1] == before[-1].turn
    assert one.history.all == before


def test_the_model_is_asked_on_the_prefix_that_it_has_in_its_cache(make) -> None:
    one = make(SUMMARY)
    before = one.history.turns()
    asyncio.run(one())
    (ask,) = one.provider.asked
    assert ask.turns[:-1] == before[: len(ask.turns) - 1] and ask.system == "You help."


@pytest.mark.parametrize(
    "answer",
    [
        [ProviderError(Trouble.CONTEXT, "too long")],
        [ProviderError(Trouble.NETWORK, "x")],
        [Stopped(Stop.END)],
    ],
)
def test_without_the_model_the_calls_stand_in_the_summary(make, answer) -> None:
    one = make(answer)
    assert asyncio.run(one())
    assert 'read {"path": "f2"}: done' in summary_of(one)


def test_a_summary_may_be_summarised_again(make) -> None:
    one = make(SUMMARY, [TextDelta(0, "Shorter."), Stopped(Stop.END)])
    asyncio.run(one())
    for n in range(10, 16):
        one.recorder.emit(talk.Spoken(id=f"u{n}", parts=(Text("y" * 3500),)))
    assert asyncio.run(one())
    assert "Shorter." in summary_of(one) and "Goal. All wishes." not in summary_of(one)


def test_of_a_short_conversation_nothing_can_be_left_out(make) -> None:
    entries = [
        Entry("u", Said((Text("hi"),))),
        Entry("a", Answer((Used(Call("c", "x", "{}"), Result.of("y")),))),
    ]
    assert between(entries, 3000) is None
    assert between([], 3000) is None


def test_what_the_person_said_names_their_pictures_and_large_ones_weigh_more() -> None:
    small, large = (Image("b", "image/png", side, side, f"{side}.png") for side in (40, 1500))
    entries = [Entry("t", Said((Text("See:"), small)))]
    assert "> (a picture, 40.png, that isn't sent any more)" in compact.said(entries)
    assert sizes.size([Said((large,))]) > 5 * sizes.size([Said((small,))]) > 100


@pytest.mark.parametrize("searchable", [True, False])
def test_the_summary_speaks_of_the_log_where_it_can_be_searched(make, searchable: bool) -> None:
    one = make(SUMMARY)
    one.tools = (Tool("log", "", {}),) if searchable else ()
    assert asyncio.run(one())
    assert ("is found by `log`" in summary_of(one)) is searchable
