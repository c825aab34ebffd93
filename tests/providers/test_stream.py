"""Answers as they come over HTTP, of every API, whole."""

from __future__ import annotations

import pytest

from deskagent.messages import Call, Said, Text, Thinking
from deskagent.providers.base import Ask, Stop, Usage
from deskagent.providers.gather import Gather

ASK = Ask("You code.", (), (Said((Text("Hello"),)),))
ID = "call_0123456789abcdef"
ROWS = [
    ("kimi", "chat", "reasoning_content", {}),
    ("vllm", "chat", "reasoning", {}),
    ("anthropic", "messages", "thinking", {"signature": "signed:10"}),
    ("responses", "responses", "reasoning", None),
]


async def gathered(provider, ask=ASK):
    gather = Gather()
    async for delta in provider.stream(ask):
        gather.take(delta)
    await provider.close()
    return gather


@pytest.mark.parametrize("dialect, api, label, raw", ROWS)
def test_parts_come_in_order_with_their_usage_and_their_end(dialect, api, label, raw, standin, remote, run):
    turn = standin.Turn("Let me see", "I look.", [(ID, "read", '{"path": "a.py"}')], label)
    reply = standin.Reply(standin.frames(api, turn))

    async def go():
        async with standin.Standin([reply]) as server:
            return await gathered(remote(dialect, server.url)), server.requests

    gather, requests = run(go())
    thinking, text, call = gather.parts()
    assert isinstance(thinking, Thinking)
    assert (thinking.text, thinking.label) == ("Let me see", label)
    if raw is None:
        assert thinking.raw["item"]["encrypted_content"] == "sealed:rs_10"
    else:
        assert thinking.raw == raw
    assert text == Text("I look.")
    assert call == Call(ID, "read", '{"path": "a.py"}')
    assert gather.stop is Stop.CALLS
    assert gather.usage == Usage(100, 60, 20, 5)
    assert gather.raw == b"".join(reply.pieces)
    assert len(requests) == 1


@pytest.mark.parametrize("dialect, api, label, raw", ROWS)
def test_empty_thinking_is_thinking_too(dialect, api, label, raw, standin, remote, run):
    turn = standin.Turn("", "Yes.", (), label)

    async def go():
        async with standin.Standin([standin.Reply(standin.frames(api, turn))]) as server:
            return await gathered(remote(dialect, server.url))

    thinking, text = run(go()).parts()
    assert isinstance(thinking, Thinking)
    assert (thinking.text, thinking.label, text) == ("", label, Text("Yes."))


@pytest.mark.parametrize("dialect, api, label, raw", ROWS)
def test_an_answer_that_reached_its_length_says_so(dialect, api, label, raw, standin, remote, run):
    turn = standin.Turn(None, "half a sen", stop="length")

    async def go():
        async with standin.Standin([standin.Reply(standin.frames(api, turn))]) as server:
            return await gathered(remote(dialect, server.url))

    assert run(go()).stop is Stop.LENGTH


@pytest.mark.parametrize("dialect, api, label, raw", ROWS)
def test_the_request_is_one_that_a_strict_server_takes(dialect, api, label, raw, standin, remote, run):
    kind = {"vllm": "template"}.get(dialect, dialect)

    async def go():
        async with standin.Standin(
            [standin.Reply(standin.frames(api, standin.Turn(None, "Yes.")))]
        ) as server:
            await gathered(remote(dialect, server.url, key="secret"))
            return server.requests[0]

    request = run(go())
    standin.check(kind, request.body)
    sent = request.headers.get("x-api-key") or request.headers["authorization"].removeprefix("Bearer ")
    assert sent == "secret"
    assert b"secret" not in request.body
