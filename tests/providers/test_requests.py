"""Any conversation becomes a request that a strict server takes, and begins with the bytes of a shorter one."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.errors import DeskagentError
from deskagent.messages import Answer, Author, Call, Image, Outcome, Result, Said, Text, Thinking, Used
from deskagent.providers import wire
from deskagent.providers.base import Ask, Choice, Tool
from deskagent.providers.remote import APIS

DIALECTS = {
    "openai": "openai",
    "kimi": "kimi",
    "kimi-k2": "kimi",
    "vllm": "openai-like",
    "sglang": "openai-like",
    "thinking-budget": "openai-like",
    "thinking-tier": "openai-like",
    "openrouter": "openai-like",
    "generic": "openai-like",
    "llama.cpp": "template",
    "llama.cpp-tier": "template",
    "responses": "responses",
    "anthropic": "anthropic",
    "anthropic-budget": "anthropic-budget",
}

# Halves of surrogate pairs, NUL, line separators and markers are among them; a test isn't better for long ones.
texts = st.text(
    st.characters(codec=None, categories=("L", "Cs", "Cc", "Zs", "Zl", "Po")), max_size=12
) | st.sampled_from(["", " ", "\n", "\ud83d", "\u2028", "<think>", "</think>", '{"a": 1}', "[DONE]"])
images = st.builds(
    Image,
    blob=st.sampled_from(["here", "empty", "gone"]),
    media=st.just("image/png"),
    width=st.just(3),
    height=st.just(4),
    origin=texts,
)
parts = st.lists(st.builds(Text, texts) | images, max_size=3).map(tuple)
results = st.builds(Result, st.sampled_from(Outcome), parts)
arguments = (
    st.sampled_from(
        [
            "",
            "{}",
            '{"path": "a.py"}',
            "[1]",
            "null",
            '{"a": NaN}',
            '{"a": 1e999}',
            '{"a": "\\ud800"}',
            '{"a"',
            "[" * 9999,
        ]
    )
    | texts
)
thinking = st.one_of(
    st.builds(Thinking, texts, st.sampled_from(["reasoning_content", "reasoning", "", "<think>"])),
    texts.map(lambda text: Thinking(text, "thinking", {"signature": f"signed:{len(text)}"})),
    texts.map(lambda text: Thinking(text, "thinking")),  # cut before its signature came
    st.just(Thinking("", "redacted_thinking", {"data": "sealed"})),
    texts.map(
        lambda text: Thinking(
            text,
            "reasoning",
            {
                "item": {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [],
                    "encrypted_content": "sealed",
                    "status": None,
                }
            },
        )
    ),
)


@st.composite
def conversations(draw):
    turns, counted = [], 0
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            turns.append(Said(draw(parts), draw(st.sampled_from(Author))))
            continue
        found = []
        for _ in range(draw(st.integers(0, 4))):
            kind = draw(st.integers(0, 2))
            if kind == 0:
                found.append(draw(thinking))
            elif kind == 1:
                found.append(Text(draw(texts)))
            else:
                counted += 1
                # unique, as the session keeps them, and otherwise whatever servers give
                name = (
                    f"{draw(st.sampled_from(['call_', 'functions.read:', 'Agent:', '', 'x' * 70]))}{counted}"
                )
                call = Call(
                    name,
                    draw(st.sampled_from(["read", "", "21st", "no such", "x" * 80]) | texts),
                    draw(arguments),
                )
                found.append(Used(call, draw(results)))
        turns.append(Answer(tuple(found), draw(st.sampled_from(["here/m", "other/m", ""])), "end"))
    return tuple(turns)


schemas = st.sampled_from(
    [
        {"type": "object", "properties": {}},
        {
            "type": "object",
            "properties": {"path": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}},
        },
        {"type": "object", "properties": {"any": {}, "all": True, "pick": {"enum": ["a", "b"]}}},
        {"type": "object", "anyOf": [{"properties": {}}, {"properties": {}}]},
        {
            "type": "object",
            "properties": {"pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}},
        },
        {
            "type": "object",
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
            "properties": {"node": {"$ref": "#/$defs/Node", "description": "the first"}},
        },
        {"type": "object", "properties": {"many": {"type": ["string", "null"], "description": "or none"}}},
    ]
)
tools = st.lists(schemas, max_size=3).map(
    lambda found: tuple(Tool(f"tool_{number}", "does it", schema) for number, schema in enumerate(found))
)


def blob(name):
    if name == "gone":
        raise DeskagentError("no such blob")
    return b"\x89PNG" if name == "here" else b""


@st.composite
def asks(draw):
    return Ask(
        draw(texts),
        draw(tools),
        draw(conversations()),
        tier=draw(st.sampled_from(["low", "high", "max"])),
        choice=draw(st.sampled_from(Choice)),
        most=draw(st.sampled_from([None, 100, 40_000])),
        blob=blob,
        session=draw(st.sampled_from(["", "s", "s" * 100])),
    )


def body(ask, endpoint):
    return wire.encode(APIS[endpoint.dialect.api].request(ask, endpoint))


def strict(standin, kind, sent):
    """Servers that follow OpenAI take what its own takes, and thinking with it."""
    if kind != "openai-like":
        return standin.check(kind, sent)
    found = json.loads(sent)
    for name in ("thinking_budget", "reasoning"):
        found.pop(name, None)
    for message in found["messages"]:
        for name in ("reasoning", "reasoning_content"):
            message.pop(name, None)
    if "max_tokens" in found:
        found["max_completion_tokens"] = found.pop("max_tokens")
    for message in found["messages"]:
        for number, call in enumerate(message.get("tool_calls", ())):
            assert len(call["id"]) <= 64, number
    return standin.check("openai", json.dumps(found).encode()) if "x" * 41 not in sent.decode() else found


LITTLE = {"images": False, "tiers": ()}


@settings(max_examples=150)
@given(ask=asks())
def test_any_conversation_is_taken_by_every_kind_of_server(ask, standin, endpoint):
    for dialect, kind in DIALECTS.items():
        for can in ({}, LITTLE):
            strict(standin, kind, body(ask, endpoint(dialect, can=can)))


@settings(max_examples=100)
@given(ask=asks(), data=st.data())
def test_a_longer_conversation_begins_with_the_bytes_of_a_shorter_one(ask, data, endpoint):
    cut = data.draw(st.integers(0, len(ask.turns)))
    silent = cut and isinstance(ask.turns[cut - 1], Answer) and not ask.turns[cut - 1].used
    if silent and cut < len(ask.turns) and isinstance(ask.turns[cut], Said):
        cut -= 1  # a word of ours stands behind an answer that nobody had spoken after
    shorter = Ask(ask.system, ask.tools, ask.turns[:cut], blob=blob)
    longer = Ask(ask.system, ask.tools, ask.turns, tier="low", choice=Choice.NONE, most=9000, blob=blob)
    for dialect in DIALECTS:
        if cut == 0 or dialect.startswith("llama"):  # whose templates want two messages in a row as one
            continue
        where = endpoint(dialect)
        list_ = "input" if dialect == "responses" else "messages"
        short = APIS[where.dialect.api].request(shorter, where)
        if dialect.startswith("anthropic") and not ask.tools:
            continue  # the tools that a conversation used stand for those that it hasn't
        head = dict(list(short.items())[: list(short).index(list_) + 1])
        assert body(longer, where).startswith(wire.encode(head)[:-2]), dialect
        assert body(shorter, where) == body(shorter, where)
