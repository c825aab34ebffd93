"""Events into items: the same ones whether they were seen live or read from the log; inert whatever they hold."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskagent.agent.front import Printed, Streamed
from deskagent.messages import Author, Call, Image, Outcome, Result, Text, Thinking
from deskagent.providers.base import CallDelta, Retrying, TextDelta, ThinkingDelta
from deskagent.session import events, talk
from deskagent.terminal.text import printable
from ui.log.about import about
from ui.log.fold import Fold
from ui.log.items import Aside, Item, Notice, Said, State, Thought, Words, Work

HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x9b31m\u202e[bold]\x1b[2J\U000e0041\rx seen"


def folded(*happened: Any) -> Fold:
    fold = Fold()
    for event in happened:
        fold.take(event)
    return fold


def plain(fold: Fold) -> list[Item]:
    return [replace(item, key="") for item in fold.items]


def spoken(id: str, text: str, author: Author = Author.PERSON) -> talk.Spoken:
    return talk.Spoken(id=id, parts=(Text(text),), author=author)


parts = st.lists(
    st.one_of(
        st.builds(Text, st.text(max_size=30)),
        st.builds(Thinking, st.text(max_size=30)),
        st.builds(Call, st.just("c"), st.sampled_from(["read", "edit"]), st.text(max_size=30)),
    ),
    max_size=4,
)


def deltas(part: Text | Thinking | Call, number: int, cut: int) -> list[Any]:
    """A part as it would be streamed, in two pieces."""
    match part:
        case Call(id=id, name=name, arguments=text):
            return [CallDelta(number, id, name, text[:cut]), CallDelta(number, arguments=text[cut:])]
        case Thinking(text=text):
            return [ThinkingDelta(number, text[:cut]), ThinkingDelta(number, text[cut:])]
        case Text(text=text):
            return [TextDelta(number, text[:cut]), TextDelta(number, text[cut:])]


@given(st.lists(st.tuples(parts, st.integers(0, 30), st.booleans(), st.booleans()), max_size=5))
def test_what_was_seen_live_is_what_the_log_gives(answers) -> None:
    log: list[Any] = []
    live: list[Any] = []
    for number, (came, cut, ends, broke) in enumerate(answers):
        ask = f"answer-{number}"
        came = [
            Call(f"{ask}-{n}", p.name, p.arguments) if isinstance(p, Call) else p for n, p in enumerate(came)
        ]
        asked = talk.ModelAsked(id=ask, model="m", tier="low")
        kept = [
            *(talk.PartCame(ask=ask, part=part) for part in came),
            talk.ModelAnswered(ask=ask, stop="end"),
        ]
        if ends:
            kept += [talk.CallEnded(id=p.id, result=Result.of("ok")) for p in came if isinstance(p, Call)]
        passing = [Streamed(ask, d) for n, part in enumerate(came) for d in deltas(part, n, cut)]
        if broke and passing:
            passing += [*passing, Streamed(ask, TextDelta(99, "void"))]
            passing = [*passing[: len(passing) // 2], *passing[len(passing) // 2 :]]
        log += [asked, *kept]
        live += [asked, *passing, *kept]
    assert plain(folded(*live)) == plain(folded(*log))


def test_a_retry_voids_what_came() -> None:
    asked = talk.ModelAsked(id="a", model="m")
    fold = folded(asked, Streamed("a", TextDelta(0, "half")), Streamed("a", Retrying("busy", 2.0)))
    assert not any(isinstance(item, Words) for item in fold.items)
    fold.take(Streamed("a", TextDelta(0, "whole")))
    assert [item.text for item in fold.items if isinstance(item, Words)] == ["whole"]


def test_a_call_from_being_written_to_its_end() -> None:
    fold = folded(
        talk.ModelAsked(id="a", model="m"), Streamed("a", CallDelta(0, "c", "terminal", '{"command": "ls -'))
    )
    assert astuple(fold.items[0])[2:5] == ("terminal", "ls -", State.WRITTEN)
    fold.take(talk.PartCame(ask="a", part=Call("c", "terminal", '{"command": "ls -l"}')))
    fold.take(talk.CallBegun(id="c", effect="run", subject="ls -l", permitted="auto mode"))
    fold.take(Printed("c", "one\n" * 9000))
    work = fold.items[0]
    assert isinstance(work, Work) and work.state is State.RUNNING and len(work.printed) <= 8000
    fold.take(talk.CallEnded(id="c", result=Result.of("one"), seconds=2))
    fold.take(talk.CallEnded(id="c", result=Result.of("two")))
    assert astuple(fold.items[0])[4:] == (Outcome.DONE, "ls -l", False, "auto mode", "", "one", 2, ())


def test_a_rewind_takes_out_the_turn_and_all_after_it() -> None:
    said = [spoken("t1", "one"), spoken("t2", "two"), spoken("t3", "three")]
    assert [item.turn for item in folded(*said, talk.Rewound(to="t2")).items] == ["t1"]
    assert len(folded(*said, talk.Rewound(to="gone")).items) == 3


def test_a_request_is_shown_once() -> None:
    assert [item.turn for item in folded(events.Request(text="do"), spoken("t", "do")).items] == ["t"]
    alone = folded(events.Request(text="fix it"), events.Notice(level="info", text="found"))
    assert [type(item) for item in alone.items] == [Said, Notice]


def test_answers_beside_the_conversation_are_not_shown() -> None:
    asked = talk.ModelAsked(id="s", model="m", why="summary")
    fold = folded(asked, Streamed("s", TextDelta(0, "x")), talk.PartCame(ask="s", part=Text("x")))
    assert fold.items == []


@pytest.mark.parametrize(
    "event",
    [
        spoken("t", HOSTILE),
        spoken("t", HOSTILE, Author.DESKAGENT),
        spoken("t", f"I ran `{HOSTILE}`:\n{HOSTILE}"),
        talk.Spoken(
            id="t",
            parts=(Text("x"), Image("b", "image/png", 1, 1, HOSTILE), Text(f"<file path='{HOSTILE}'>")),
        ),
        events.Request(text=HOSTILE),
        events.Notice(level="error", text=HOSTILE),
        events.PatchFound(key="k", diff=HOSTILE, path=HOSTILE),
        talk.Compacted(id="c", first="a", last="b", summary=HOSTILE),
        talk.PartCame(ask="b", part=Text(HOSTILE)),
        talk.PartCame(ask="b", part=Thinking(HOSTILE)),
        talk.PartCame(ask="b", part=Call("x", HOSTILE, HOSTILE)),
        Streamed("b", TextDelta(0, HOSTILE)),
        Streamed("b", ThinkingDelta(0, HOSTILE)),
        Streamed("b", CallDelta(0, "x", HOSTILE, '{"path": "' + HOSTILE)),
        Streamed("b", Retrying(HOSTILE, 1)),
        Printed("c", HOSTILE),
        talk.CallBegun(id="c", effect="run", subject=HOSTILE, permitted=HOSTILE),
        talk.CallEnded(id="c", result=Result.of(HOSTILE)),
        talk.ModelAnswered(ask="b", stop="cut", error=HOSTILE),
        events.Within(agent="g", event=talk.PartCame(ask="z", part=Call("q", HOSTILE, HOSTILE))),
    ],
)
def test_nothing_foreign_stays_active(event) -> None:
    fold = folded(
        talk.ModelAsked(id="a", model="m"),
        talk.PartCame(ask="a", part=Call("c", "terminal", "{}")),
        talk.AgentBegun(id="g", call="c"),
        *([] if isinstance(event, talk.CallBegun | talk.CallEnded) else [talk.ModelAsked(id="b", model="m")]),
        event,
        events.StateChanged(source="a", target="b"),
    )
    for item in fold.items:
        for name in ("text", "title", "name", "about", "permitted", "printed", "result", "beside", "inner"):
            value = getattr(item, name, "")
            for text in value if isinstance(value, tuple) else (value,):
                assert text == printable(text), (type(item), name)
        if isinstance(item, Work) and item.state is not State.WRITTEN:
            assert item.subject == printable(item.subject)
    assert any("seen" in str(item) for item in fold.items)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"path": "a.py", "old": "x"}', "a.py"),
        ('{"old": "x", "path": "a.py"}', "a.py"),
        ('{"command": "ls \\"a', 'ls "a'),
        ('{"n": 3}', "3"),
        ("{}", ""),
        ("", ""),
        ("no json", "no json"),
        ("[1]", "[1]"),
        ("[" * 100_000, "[" * 400),
        ('{"todos": [{"text": "read", "state": "done"}, {"text": "mend"}]}', "read · mend"),
        ('{"names": ["a", 1, {"b": 2}]}', 'a · 1 · {"b": 2}'),
    ],
)
def test_what_a_call_is_about(arguments: str, says: str) -> None:
    assert about(arguments) == says


def test_an_aside_is_said_by_deskagent() -> None:
    assert isinstance(folded(spoken("t", "note", Author.DESKAGENT)).items[0], Aside)
    assert isinstance(
        folded(talk.ModelAsked(id="a", model="m"), talk.PartCame(ask="a", part=Thinking("x"))).items[0],
        Thought,
    )
