"""What is said while something is being done waits, on record, and is sent once."""

from __future__ import annotations

import threading
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deskagent.messages import Text
from deskagent.providers.base import TextDelta
from deskagent.session import talk
from tests.ui.conftest import Play, Scripted, says
from ui.log.items import Said, Words
from ui.log.waiting import Waiting


async def queue(on: Play, text: str) -> None:
    await on.type(text)
    await on.press("alt+enter")


def spoken(provider: Scripted) -> list[str]:
    """What the person has said in all, as the model saw it last."""
    turns: Any = provider.asked[-1].turns
    return [part.text for turn in turns for part in getattr(turn, "parts", ()) if isinstance(part, Text)]


def test_what_waits_is_sent_in_its_order_once_each(play) -> None:
    held = threading.Event()

    async def steps(on: Play) -> None:
        await on.send("go")
        await on.shows("Begun")
        await queue(on, "then this")
        await queue(on, "/budget low")
        await queue(on, "and that")
        await on.shows("3 queued")
        held.set()
        await on.shows("Third.")
        await on.idle()
        assert [item.text for item in on.items(Said)] == ["go", "then this", "and that"]
        assert on.app.facts.effort == "low" and "queued" not in on.screen()

    provider = play([[TextDelta(1, "Begun"), held.wait, *says()], says("Second."), says("Third.")], steps)
    assert [text for text in spoken(provider) if text in ("go", "then this", "and that")] == [
        "go",
        "then this",
        "and that",
    ]


def test_what_waits_is_taken_back_to_be_changed(play) -> None:
    held = threading.Event()

    async def steps(on: Play) -> None:
        await on.send("go")
        await on.shows("Begun")
        await queue(on, "first")
        await queue(on, "secnd")
        await on.shows("2 queued")
        await on.press("alt+up")
        assert on.app.composer.text == "secnd"
        await on.shows("1 queued")
        held.set()
        await on.shows("Second.")
        await on.idle()
        assert [item.text for item in on.items(Said)] == ["go", "first"]

    play([[TextDelta(1, "Begun"), held.wait, *says()], says("Second.")], steps)


def test_an_interrupt_leaves_what_waits_until_enter(play) -> None:
    held = threading.Event()

    async def steps(on: Play) -> None:
        await on.send("go")
        await on.shows("Begun")
        await queue(on, "later")
        await on.shows("1 queued")
        await on.press("escape")
        await on.shows("interrupted")
        held.set()
        await on.idle()
        assert len(on.items(Words)) == 1
        await on.press("enter")
        await on.shows("Second.")

    play([[TextDelta(1, "Begun"), held.wait], says("Second.")], steps)


@given(st.lists(st.tuples(st.sampled_from(["queued", "unqueued", "spoken"]), st.integers(0, 5))))
def test_it_waits_from_when_it_was_said_to_when_it_was_sent_or_taken_back(steps) -> None:
    waiting, expected = Waiting(), {}
    for kind, number in steps:
        id = f"turn-{number}"
        if kind == "queued":
            waiting.take(talk.Queued(id, f"text {number}"))
            expected[id] = f"text {number}"
        elif kind == "unqueued":
            waiting.take(talk.Unqueued(id))
            expected.pop(id, None)
        else:
            waiting.take(talk.Spoken(id=id, parts=(Text("…"),)))
            expected.pop(id, None)
    assert {id: each.text for id, each in waiting.said.items()} == expected
