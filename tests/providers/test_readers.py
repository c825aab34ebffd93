"""Streams as servers really send them: cut anywhere, and each a little different."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.messages import Call, Text, Thinking
from deskagent.providers.base import ProviderError, Stop, Trouble, Usage
from deskagent.providers.dialects import DIALECTS
from deskagent.providers.gather import Gather
from deskagent.providers.remote import APIS
from deskagent.providers.sse import Event, Parser, TooLong
from deskagent.providers.thinktags import ThinkTags

ID = "call_0123456789abcdef"
DIALECT = {"chat": "vllm", "messages": "anthropic", "responses": "responses"}


def gathered(api, pieces, dialect="", taken=()):
    """What a stream in these pieces comes to."""
    made = iter(f"own_{number}" for number in range(99))
    reader = APIS[api].reader(DIALECTS[dialect or DIALECT[api]], frozenset(taken), lambda: next(made))
    gather, parser = Gather(), Parser()
    for piece in pieces:
        for event in parser.feed(piece):
            for delta in reader.take(event):
                gather.take(delta)
    for delta in reader.end():
        gather.take(delta)
    return gather


def chat(*deltas, end="stop", **more):
    """A chat stream of these deltas."""
    data = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    data.append({"choices": [{"index": 0, "delta": {}, "finish_reason": end, **more}]})
    return [f"data: {json.dumps(one)}\n\n".encode() for one in data]


def tool(index=None, given=None, name=None, arguments=None):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    call = {"function": function}
    call |= {key: value for key, value in (("index", index), ("id", given)) if value is not None}
    return {"tool_calls": [call]}


@pytest.mark.parametrize("api", DIALECT)
@settings(max_examples=60)
@given(data=st.data(), ending=st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_it_is_the_same_however_the_bytes_are_cut(api, data, ending, standin):
    turn = standin.Turn("Hm\u2028, ä €", "<thi nk> 😀\r\n", [(ID, "read", '{"p": "ü"}'), ("", "ls", "{}")])
    whole = b"".join(standin.frames(api, turn)).replace(b"\n", ending)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    once, cut = gathered(api, [whole]), gathered(api, pieces)
    assert cut.parts() == once.parts() and cut.usage == once.usage and cut.stop is once.stop is Stop.CALLS
    kinds = [type(part) for part in once.parts()]
    assert kinds == [Thinking, Text, Call, Call]
    assert once.parts()[1] == Text(turn.text)


@pytest.mark.parametrize("api", DIALECT)
def test_a_stream_that_ends_at_any_byte_is_whole_or_cut(api, standin):
    whole = b"".join(standin.frames(api, standin.Turn("Hä", "I €", [(ID, "read", "{}")], size=99)))
    done = gathered(api, [whole])
    cut = 0
    for size in range(len(whole)):
        try:
            assert gathered(api, [whole[:size]]).parts() == done.parts()
        except ProviderError as error:
            cut += 1
            assert error.trouble is Trouble.NETWORK
    assert cut > len(whole) // 2


def test_lines_end_where_the_protocol_says_and_nowhere_else():
    parser = Parser()
    found = parser.feed("\ufeff: hello\nevent: a\ndata: 1\u2028\x0b2\rdata:3\r\n\r\ndata: x".encode())
    assert found == [Event("a", "1\u2028\x0b2\n3")]
    assert parser.feed(b"\n\n\n\n") == [Event("", "x")]


def test_an_event_without_end_is_given_up_and_comments_are_not():
    parser = Parser(limit=100)
    for _ in range(50):
        assert parser.feed(b": still there\n\n") == []
    with pytest.raises(TooLong):
        for _ in range(50):
            parser.feed(b"data: more\n")


def test_a_line_of_many_megabytes_is_read():
    text = "x" * 5_000_000
    line = (
        b"data: " + json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}).encode()
    )
    pieces = [line[start : start + 65536] for start in range(0, len(line), 65536)]
    assert gathered("chat", [*pieces, b"\n\n"]).parts() == (Text(text),)


def test_ids_that_come_again_become_our_own_and_are_remembered():
    frames = chat(
        tool(0, ID, "read", "{}"),
        tool(1, ID, "read", "{}"),
        tool(2, "Agent:0", "go", ""),
        tool(3, "", "ls", ""),
    )
    first, second, third, fourth = gathered("chat", frames).parts()
    assert first == Call(ID, "read", "{}")
    assert second == Call("own_0", "read", "{}", {"id": ID})
    assert third == Call("own_1", "go", "", {"id": "Agent:0"})
    assert isinstance(fourth, Call) and fourth.id == "own_2"
    (known,) = gathered("chat", chat(tool(0, ID, "read", "{}")), taken=[ID]).parts()
    assert known == Call("own_0", "read", "{}", {"id": ID})


@pytest.mark.parametrize(
    "deltas",
    [
        [tool(0, ID, "read"), tool(0, arguments='{"a":'), tool(0, arguments="1}")],
        [tool(0, ID, "read"), tool(0, ID, "read", '{"a":'), tool(0, ID, "read", "1}")],
        [tool(None, ID, "read", '{"a":1}')],
        [tool(0, ID, "", '{"a":'), tool(0, None, "read", "1}")],
        [tool(0, ID, "read", {"a": 1})],
        [{"content": ""}, tool(0, ID, "read", ""), {"content": None}, tool(0, None, None, '{"a":1}')],
    ],
    ids=["index", "repeated", "no index", "late name", "object", "one late delta"],
)
def test_a_call_comes_in_many_ways(deltas):
    (call,) = gathered("chat", chat(*deltas, end="stop")).parts()
    assert isinstance(call, Call)
    assert (call.id, call.name, json.loads(call.arguments)) == (ID, "read", {"a": 1})


def test_calls_that_all_have_the_same_index_are_told_apart():
    one, two = f"{ID}_1", f"{ID}_2"
    frames = chat(
        tool(0, one, "a", "{}"), tool(0, two, "b", '{"x"'), tool(0, None, None, ":1}"), end="tool_calls"
    )
    assert gathered("chat", frames).parts() == (Call(one, "a", "{}"), Call(two, "b", '{"x":1}'))
    frames = chat(tool(None, None, "a", "{}"), tool(None, None, "b", "{}"))
    assert [part.name for part in gathered("chat", frames).parts()] == ["a", "b"]


def test_calls_end_an_answer_whatever_the_server_says():
    assert gathered("chat", chat(tool(0, ID, "a", "{}"), end="stop")).stop is Stop.CALLS
    assert gathered("chat", chat(tool(0, ID, "a", "{}"), end="length")).stop is Stop.LENGTH


@pytest.mark.parametrize("where", ["chunk", "choice"])
def test_usage_is_found_in_both_places(where):
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 7}
    frames = chat({"content": "x"}, **({"usage": usage} if where == "choice" else {}))
    if where == "chunk":
        frames.append(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n".encode())
    assert gathered("chat", frames).usage == Usage(9, 7, 4)


@pytest.mark.parametrize(
    ("deltas", "label", "text"),
    [
        (
            [{"reasoning_content": "a", "reasoning": "a"}, {"reasoning_content": "b", "reasoning": "b"}],
            "reasoning",
            "ab",
        ),
        ([{"reasoning_content": ""}, {"reasoning": "ab"}], "reasoning", "ab"),
        ([{"reasoning_content": ""}, {"content": "x"}], "reasoning_content", ""),
        ([{"reasoning_content": None, "reasoning": "ab"}], "reasoning", "ab"),
    ],
    ids=["both", "empty first", "empty alone", "null"],
)
def test_thinking_is_kept_once_and_by_its_name(deltas, label, text):
    thinking = gathered("chat", chat(*deltas)).parts()[0]
    assert thinking == Thinking(text, label)


def test_details_of_thinking_are_joined_and_kept():
    def detail(text):
        return {
            "reasoning": text,
            "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text}],
        }

    sealed = {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "x"}]}
    (thinking,) = gathered("chat", chat(detail("a"), detail("b"), sealed), "openrouter").parts()
    assert thinking.text == "ab" and thinking.label == "reasoning"
    assert [one.get("text", one.get("data")) for one in thinking.raw["reasoning_details"]] == ["ab", "x"]


@given(st.data())
@settings(max_examples=80)
def test_markers_are_found_however_they_are_split(data):
    text = data.draw(
        st.sampled_from(["\n<think>a < b</th</think>\n\nyes <think>", "<think>never </thin", "<thin", "<b>"])
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    tags = ThinkTags("<think>", "</think>")
    found = [one for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) for one in tags.feed(text[a:b])]
    found += tags.rest()
    thinking = "".join(piece for inside, piece in found if inside)
    said = "".join(piece for inside, piece in found if not inside)
    assert (thinking, said) == {
        "\n": ("a < b</th", "\n\nyes <think>"),
        "<think>n": ("never </thin", ""),
        "<thin": ("", "<thin"),
        "<b>": ("", "<b>"),
    }[text[:1] if text[0] == "\n" else text[:8]]


def test_thinking_that_never_closes_is_thinking_and_goes_back_as_it_came():
    (thinking,) = gathered("chat", chat({"content": "<think>still"}, {"content": " at it"})).parts()
    assert thinking == Thinking("still at it", "<think>")


@pytest.mark.parametrize("api", DIALECT)
def test_what_is_unknown_is_passed_over(api, standin):
    frames = standin.frames(api, standin.Turn("a", "b", [(ID, "c", "{}")]))
    odd = [
        b'data: {"type":"new.thing","index":0,"output_index":0,"delta":{"type":"new_delta"}}\n\n',
        b"data: []\n\n",
        b": comment\n\n",
        b'event: ping\ndata: {"type": "ping"}\n\n',
        b"data: \n\n",
    ]
    mixed = [one for frame in frames[:-1] for one in (frame, *odd)] + frames[-1:]
    assert gathered(api, mixed).parts() == gathered(api, frames).parts()


def test_arguments_that_a_server_gives_only_at_the_end_are_taken():
    item = {"type": "function_call", "call_id": ID, "name": "read", "arguments": '{"a":1}'}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed"}},
    ]
    frames = [f"data: {json.dumps(one)}\n\n".encode() for one in events]
    assert gathered("responses", frames).parts() == (Call(ID, "read", '{"a":1}'),)
    events = [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": ID, "name": "read", "input": {"a": 1}},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ]
    frames = [f"data: {json.dumps(one)}\n\n".encode() for one in events]
    assert gathered("messages", frames).parts() == (Call(ID, "read", '{"a": 1}'),)
