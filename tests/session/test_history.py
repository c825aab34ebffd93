"""Whatever happened in a session, its conversation can be sent, and what was sent stays as it was."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from deskagent.messages import Answer, Author, Call, Outcome, Result, Said, Text, Thinking, Turn
from deskagent.session import events, record, talk
from deskagent.session.event import Event
from deskagent.session.history import History

SOME = ["a1", "a2", "a3"]
CALLS = ["c1", "c2", "c3"]


def said(id: str, text: str = "hello") -> talk.Spoken:
    return talk.Spoken(id=id, parts=(Text(text),))


def asked(id: str) -> talk.ModelAsked:
    return talk.ModelAsked(id=id, model="stand/in")


def came(ask: str, part: Thinking | Text | Call) -> talk.PartCame:
    return talk.PartCame(ask=ask, part=part)


def call(id: str) -> Call:
    return Call(id, "read", "{}")


def ended(id: str, text: str = "ok") -> talk.CallEnded:
    return talk.CallEnded(id=id, result=Result.of(text))


EVENTS = st.one_of(
    st.builds(said, st.sampled_from(["u1", "u2", "u3"])),
    st.builds(asked, st.sampled_from(SOME)),
    st.builds(
        came,
        st.sampled_from(SOME),
        st.one_of(st.builds(Text, st.text(max_size=3)), st.builds(call, st.sampled_from(CALLS))),
    ),
    st.builds(lambda a: talk.ModelAnswered(ask=a, stop="end"), st.sampled_from(SOME)),
    st.builds(lambda c: talk.CallBegun(id=c, effect="read"), st.sampled_from(CALLS)),
    st.builds(ended, st.sampled_from(CALLS)),
)


def texts(turns: Sequence[Turn]) -> list[str]:
    return [part.text for turn in turns for part in turn.parts if isinstance(part, Text)]


@given(st.lists(EVENTS, max_size=30))
def test_any_events_make_a_conversation_without_empty_turns(found: list[Event]) -> None:
    history = History(found)
    for turn in history.turns():
        assert turn.parts
        if isinstance(turn, Answer):
            assert all(used.result.content for used in turn.used)


@given(st.lists(EVENTS, max_size=30))
def test_what_was_sent_stays_as_it_was(found: list[Event]) -> None:
    history = History()
    before: tuple[Turn, ...] = ()
    for event in found:
        history.take(event)
        if isinstance(event, talk.ModelAsked):
            now = history.turns()
            assert now[: len(before)] == before
            before = now


@given(st.lists(EVENTS, max_size=30))
def test_what_is_lost_is_put_on_record_once(found: list[Event]) -> None:
    history = History(found)
    before = history.turns()
    for event in history.lost():
        history.take(event)
    assert history.waiting == [] and history.lost() == []
    assert history.turns() == before


def test_a_call_that_had_begun_is_of_unknown_outcome_and_one_that_had_not_is_not_done() -> None:
    history = History(
        [
            said("u1"),
            asked("a1"),
            came("a1", call("c1")),
            came("a1", call("c2")),
            came("a1", call("c3")),
            talk.ModelAnswered(ask="a1", stop="calls"),
            talk.CallBegun(id="c1", effect="run"),
            ended("c1", "fine"),
            talk.CallBegun(id="c2", effect="run"),
        ]
    )
    assert [each.id for each in history.waiting] == ["c2", "c3"]
    answer = history.turns()[1]
    assert isinstance(answer, Answer)
    assert [used.result.outcome for used in answer.used] == [Outcome.DONE, Outcome.UNKNOWN, Outcome.CANCELLED]


def test_what_is_said_while_tools_work_comes_after_their_results() -> None:
    history = History([said("u1"), asked("a1"), came("a1", call("c1")), said("u2", "stop that"), ended("c1")])
    assert [type(turn) for turn in history.turns()] == [Said, Answer, Said]
    assert texts(history.turns())[-1] == "stop that"


def test_thinking_is_kept_also_where_it_is_empty() -> None:
    history = History(
        [said("u1"), asked("a1"), came("a1", Thinking("", "reasoning_content")), came("a1", Text("x"))]
    )
    assert history.turns()[1].parts[0] == Thinking("", "reasoning_content")


def test_an_answer_in_which_nothing_came_is_not_sent_but_is_no_hole() -> None:
    history = History(
        [said("u1"), asked("a1"), talk.ModelAnswered(ask="a1", stop="cut", error="gone"), asked("a2")]
    )
    assert history.turns() == (Said((Text("hello"),)),)


def test_what_a_model_is_asked_beside_the_conversation_is_no_turn() -> None:
    history = History(
        [said("u1"), talk.ModelAsked(id="t", model="m", why="title"), came("t", Text("A title"))]
    )
    assert texts(history.turns()) == ["hello"]


def test_a_summary_is_sent_in_the_place_of_turns_and_these_are_still_there() -> None:
    turns = [said("u1", "1"), said("u2", "2"), said("u3", "3"), said("u4", "4")]
    history = History([*turns, talk.Compacted(id="s1", first="u2", last="u3", summary="two and three")])
    assert texts(history.turns()) == ["1", "two and three", "4"]
    assert history.turns()[1] == Said((Text("two and three"),), Author.DESKAGENT)
    assert [entry.id for entry in history.all] == ["u1", "u2", "u3", "u4"]
    history.take(talk.Compacted(id="s2", first="s1", last="u4", summary="the rest"))
    assert texts(history.turns()) == ["1", "the rest"]


def test_rewinding_takes_back_turns_and_the_summaries_that_stood_for_them() -> None:
    history = History(
        [
            said("u1", "1"),
            said("u2", "2"),
            said("u3", "3"),
            talk.Compacted(id="s1", first="u1", last="u2", summary="both"),
            talk.Rewound(to="u2"),
        ]
    )
    assert texts(history.turns()) == ["1"]


def test_the_last_choice_holds() -> None:
    history = History([talk.Chosen(what="model", value="a/b"), talk.Chosen(what="model", value="c/d")])
    assert history.chosen == {"model": "c/d"}


def test_a_subagent_whose_end_was_not_seen_is_named_and_its_events_are_no_turns() -> None:
    inner = events.Within(agent="agent-7", event=said("i1", "inner"))
    history = History(
        [said("u1"), asked("a1"), came("a1", call("c1")), talk.AgentBegun(id="agent-7", call="c1"), inner]
    )
    (lost,) = history.lost()
    assert lost.result.outcome is Outcome.UNKNOWN and "`resume` agent-7" in str(lost.result.content)
    history.take(ended("c1", "what it found"))
    assert history.lost() == [] and "inner" not in texts(history.turns())


def test_an_event_of_a_subagent_is_read_back_as_it_was() -> None:
    for event in (said("i1"), asked("a1"), ended("c1"), events.StateChanged(source="act", target="observe")):
        line = record.decode_line(record.encode(1, events.Within(agent="agent-7", event=event)))
        assert line is not None
        assert record.decode_event(line.payload) == events.Within(agent="agent-7", event=event)
