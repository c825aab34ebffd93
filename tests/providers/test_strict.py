"""The stand-in refuses what real servers were seen to refuse, and takes what their SDKs' request models take.

Each refusal is one that a public thread reports; the thread stands beside it.
"""

from __future__ import annotations

import copy
import json

import pytest

from deskagent.messages import Answer, Call, Result, Said, Text, Thinking, Used
from deskagent.providers import wire
from deskagent.providers.base import Ask, Tool
from deskagent.providers.remote import APIS

ID = "call_0123456789abcdef"
TOOL = Tool(
    "read", "Reads.", {"type": "object", "properties": {"path": {"type": "string", "description": "which"}}}
)
KINDS = ("openai", "kimi", "llama.cpp", "responses", "anthropic", "anthropic-budget")


def thinking(kind):
    if kind.startswith("anthropic"):
        return Thinking("Hm", "thinking", {"signature": "signed:2"})
    if kind == "responses":
        item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
        return Thinking("", "reasoning", {"item": item})
    return Thinking("Hm", "reasoning_content")


@pytest.fixture(scope="module")
def good(endpoint):
    """A request of each kind that is taken: a call, at work on its result."""

    def made(kind):
        used = Used(Call(ID, "read", '{"path": "a.py"}'), Result.of("text of it"))
        answer = Answer((thinking(kind), Text("I look."), used), "here/m", "calls")
        where = endpoint(kind)
        return APIS[where.dialect.api].request(
            Ask("You code.", (TOOL,), (Said((Text("Hi"),)), answer)), where
        )

    return made


def strictness(kind):
    return {"llama.cpp": "template"}.get(kind, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_good_requests_are_taken(kind, good, standin):
    standin.check(strictness(kind), wire.encode(good(kind)))


def change(path, value):
    def go(body):
        for key in path[:-1]:
            body = body[key]
        body[path[-1]] = value(body[path[-1]]) if callable(value) else value

    return go


def drop(*path):
    def go(body):
        for key in path[:-1]:
            body = body[key]
        del body[path[-1]]

    return go


def both(*steps):
    def go(body):
        for step in steps:
            step(body)

    return go


CALL, RESULT = ("messages", 2, "tool_calls", 0), ("messages", 3)
SCHEMA = ("tools", 0, "function", "parameters")
BLOCKS, RESULTS = ("messages", 1, "content"), ("messages", 2, "content")
TEXT = {"type": "text", "text": "x"}

REFUSALS = [
    # MoonshotAI/kimi-cli#2405, QwenLM/qwen-code#606
    ("openai", drop(*RESULT), "did not have response messages"),
    ("kimi", change(RESULT, {"role": "user", "content": "and now?"}), "did not have response messages"),
    # itmisx/deepx-code#94
    ("openai", drop("messages", 2), "must be a response to a preceding message"),
    # agno-agi/agno#5382, openclaw/openclaw#31934
    (
        "openai",
        both(change((*CALL, "id"), "x" * 41), change((*RESULT, "tool_call_id"), "x" * 41)),
        "string too long. Expected a string with maximum length 40",
    ),
    # openai/openai-node#1030, OpenHands/OpenHands#7700
    (
        "openai",
        change(
            (*RESULT, "content"), [{"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}]
        ),
        "Image URLs are only allowed for messages with role 'user'",
    ),
    # anomalyco/opencode#16318, mastra-ai/mastra#12592
    (
        "kimi",
        drop("messages", 2, "reasoning_content"),
        "reasoning_content is missing in assistant tool call message",
    ),
    # MoonshotAI/kimi-code#1985, labring/FastGPT#3575
    (
        "kimi",
        lambda body: body["messages"].insert(2, {"role": "assistant", "content": ""}),
        "must not be empty",
    ),
    # BerriAI/litellm#42186
    ("kimi", change(("messages", 2, "content"), [{"type": "text", "text": ""}]), "text content is empty"),
    # abhigyanpatwari/GitNexus#2703, nicobailon/pi-subagents#127
    (
        "kimi",
        change((*SCHEMA, "properties", "path"), {"type": "string", "anyOf": [{"type": "string"}]}),
        "anyOf",
    ),
    # can1357/oh-my-pi#5952
    ("kimi", change((*SCHEMA, "properties", "path"), True), "must be an object"),
    # MoonshotAI/kimi-cli#2061
    (
        "kimi",
        change((*SCHEMA, "properties", "path"), {"$ref": "#/$defs/Path", "description": "which"}),
        "conflicting keywords found after $ref expansion",
    ),
    # MoonshotAI/kimi-cli#2531
    ("kimi", change(("tools", 0, "function", "name"), "21st_magic"), "must start with a letter"),
    # 14790897/MiqroForge-Desktop#1165
    ("kimi", drop(*SCHEMA, "type"), "must be of type object"),
    # ggml-org/llama.cpp#25510, OpenHands/OpenHands#13949
    (
        "llama.cpp",
        change((*CALL, "function", "arguments"), "{"),
        "Failed to parse tool call arguments as JSON",
    ),
    # microsoft/autogen#1037, janhq/jan#6254
    ("llama.cpp", lambda body: body["messages"].insert(1, body["messages"][1]), "roles must alternate"),
    # anthropics/claude-code#2697, Kilo-Org/kilocode#5163
    ("anthropic", change(RESULTS, [TEXT]), "`tool_use` ids were found without `tool_result` blocks"),
    # anthropics/claude-code#13460, tghamm/Anthropic.SDK#184
    ("anthropic", drop("messages", 1), "unexpected `tool_use_id` found in `tool_result` blocks"),
    # anthropics/claude-code#20901, BerriAI/litellm#23510
    (
        "anthropic",
        change(("messages",), lambda found: [*found, *copy.deepcopy(found[1:])]),
        "`tool_use` ids must be unique",
    ),
    # anthropics/claude-code#59812
    ("anthropic", change((*BLOCKS, 1, "text"), ""), "text content blocks must be non-empty"),
    # anthropics/claude-code#60394
    ("anthropic", change((*BLOCKS, 1, "text"), "\\ud83d"), "not valid JSON"),
    # tailcallhq/forgecode#2107
    (
        "anthropic",
        change(BLOCKS, lambda blocks: [*blocks[:2], blocks[0]]),
        "final block in an assistant message cannot be `thinking`",
    ),
    # anthropics/claude-code#20705
    (
        "anthropic",
        change(BLOCKS, lambda blocks: [blocks[1], blocks[0], blocks[2]]),
        "the first block must be `thinking`",
    ),
    # can1357/oh-my-pi#341, mastra-ai/mastra#7507
    (
        "anthropic",
        change(("tool_choice",), {"type": "any"}),
        "Thinking may not be enabled when tool_choice forces",
    ),
    # tailcallhq/forgecode#1195
    (
        "anthropic",
        both(change(("tool_choice",), {"type": "any"}), drop("thinking")),
        "When thinking is disabled, an `assistant` message in the final position",
    ),
    # pydantic/pydantic-ai#2075, anomalyco/opencode#3077
    ("anthropic-budget", drop(*BLOCKS, 0), "Expected `thinking` or `redacted_thinking`, but found `text`"),
    # openai/openai-node#1567, openclaw/openclaw#19582
    (
        "responses",
        change(("input",), lambda items: [items[1], items[0], *items[2:]]),
        "without its required following",
    ),
    # openai/codex#620, RooCodeInc/Roo-Code#12248
    ("responses", change(("input",), lambda items: items[:-1]), "No tool output found for function call"),
    # continuedev/continue#10092
    (
        "responses",
        change(("input",), lambda items: [items[0], items[-1]]),
        "No tool call found for function call output",
    ),
]


@pytest.mark.parametrize(
    ("kind", "spoil", "says"), REFUSALS, ids=[f"{kind}-{says[:40]}" for kind, _, says in REFUSALS]
)
def test_what_servers_were_seen_to_refuse_is_refused(kind, spoil, says, good, standin):
    body = copy.deepcopy(good(kind))
    spoil(body)
    sent = json.dumps(body).replace("\\\\ud83d", "\\ud83d").encode()
    with pytest.raises(standin.Rejected, match=says.replace("$", r"\$")):
        standin.check(strictness(kind), sent)


MODELS = {
    "openai": ("openai", "openai.types.chat.completion_create_params", "CompletionCreateParamsStreaming"),
    "responses": ("openai", "openai.types.responses.response_create_params", "ResponseCreateParamsStreaming"),
    "anthropic": ("anthropic", "anthropic.types.message_create_params", "MessageCreateParamsStreaming"),
    "anthropic-budget": (
        "anthropic",
        "anthropic.types.message_create_params",
        "MessageCreateParamsStreaming",
    ),
}
SPOILT = {
    "openai": [
        ("messages", 0, "role"),
        ("messages", 3, "tool_call_id"),
        (*CALL, "id"),
        (*CALL, "function", "arguments"),
    ],
    "responses": [
        ("input", 3, "call_id"),
        ("input", 3, "name"),
        ("input", 3, "arguments"),
        ("input", 0, "content"),
    ],
    "anthropic": [("max_tokens",), (*BLOCKS, 2, "input"), (*BLOCKS, 2, "id"), (*RESULTS, 0, "tool_use_id")],
    "anthropic-budget": [
        ("thinking", "budget_tokens"),
        (*BLOCKS, 0, "signature"),
        ("tools", 0, "input_schema"),
    ],
}


@pytest.mark.parametrize("kind", MODELS)
def test_the_sdks_own_request_models_agree(kind, good, standin):
    """Both take our request; both refuse it with a field of the wrong type or without one that it needs."""
    import importlib

    package, module, name = MODELS[kind]
    pytest.importorskip(package, reason="an SDK that is in no extra but dev")
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(getattr(importlib.import_module(module), name))
    whole = json.loads(wire.encode(good(kind)))
    _walk(adapter.validate_python(whole))
    standin.check(kind, json.dumps(whole).encode())
    for path in SPOILT[kind]:
        for spoil in (drop(*path), change(path, 7.5)):
            body = copy.deepcopy(whole)
            spoil(body)
            with pytest.raises((standin.Rejected, KeyError, TypeError, AttributeError)):
                standin.check(kind, json.dumps(body).encode())
            with pytest.raises(ValidationError):
                # the models hold lists as iterables, which are checked when they are walked
                _walk(adapter.validate_python(body))


def _walk(value):
    if isinstance(value, dict):
        for one in value.values():
            _walk(one)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for one in value:
            _walk(one)
