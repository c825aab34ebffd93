"""Anthropic's messages API."""

from __future__ import annotations

import re
from typing import Any

from .rules import Rejected, base64_data, need, object_schema, only, tool_name

_FIELDS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "thinking",
        "output_config",
        "cache_control",
        "metadata",
        "stop_sequences",
        "temperature",
        "top_p",
        "top_k",
        "service_tier",
    ]
)
_BLOCKS = {
    "text": {"type", "text", "cache_control", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "image": {"type", "source", "cache_control"},
}
_IN = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
_THINKING = ("thinking", "redacted_thinking")
_MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")


def adaptive(body: dict[str, Any]) -> None:
    need(
        body.get("thinking", {}).get("type") != "enabled",
        '"thinking.type.enabled" is not supported for this model',
    )
    _check(body)


def budget(body: dict[str, Any]) -> None:
    need("effort" not in body.get("output_config", {}), "This model does not support the effort parameter.")
    need(
        body.get("thinking", {}).get("type") != "adaptive", "adaptive thinking is not supported on this model"
    )
    _check(body)
    if body.get("thinking", {}).get("type") == "enabled":
        _begins_with_thinking(body["messages"])


def _check(body: dict[str, Any]) -> None:
    only(body, _FIELDS, "body")
    need(isinstance(body.get("max_tokens"), int) and body["max_tokens"] >= 1, "max_tokens: Field required")
    thinking = body.get("thinking")
    if thinking and thinking["type"] == "enabled":
        need(
            thinking["budget_tokens"] >= 1024,
            "thinking.budget_tokens: should be greater than or equal to 1024",
        )
        need(
            thinking["budget_tokens"] < body["max_tokens"],
            "`max_tokens` must be greater than `thinking.budget_tokens`",
        )
    choice = body.get("tool_choice", {"type": "auto"})
    need(choice["type"] in ("auto", "any", "none", "tool"), "tool_choice: invalid")
    need(
        choice == {"type": "auto"} or body.get("tools"),
        "tool_choice: may only be specified while providing tools",
    )
    forced = choice["type"] in ("any", "tool")
    need(not (forced and thinking), "Thinking may not be enabled when tool_choice forces tool use.")
    effort = body.get("output_config", {}).get("effort")
    need(effort in (None, "low", "medium", "high", "xhigh", "max"), "output_config.effort: invalid")
    names = [tool["name"] for tool in body.get("tools", ())]
    need(len(set(names)) == len(names), "tools: Tool names must be unique.")
    need(body.get("tools") != [] or "tools" not in body, "tools: at least one item")
    for number, tool in enumerate(body.get("tools", ())):
        only(
            tool,
            ("name", "description", "input_schema", "cache_control", "type", "strict"),
            f"tools.{number}",
        )
        tool_name(tool["name"], f"tools.{number}.custom.name")
        object_schema(tool["input_schema"], f"tools.{number}.custom.input_schema")
    if isinstance(system := body.get("system"), list):
        need(all(part["text"].strip() for part in system), "system: text content blocks must be non-empty")
    _messages(body)


def _messages(body: dict[str, Any]) -> None:
    messages = body.get("messages")
    need(messages, "messages: at least one message is required")
    need(messages[0]["role"] == "user", 'messages: first message must use the "user" role')
    need(messages[-1]["role"] == "user", "This model does not support assistant message prefill.")
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        only(message, ("role", "content"), f"messages.{number}")
        need(message["role"] in _IN, f"messages.{number}.role: Unexpected role")
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        need(content, f"messages.{number}: all messages must have non-empty content")
        for index, block in enumerate(content):
            _block(block, message["role"], f"messages.{number}.content.{index}")
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        missing = [name for name in waiting if name not in results]
        need(
            not missing,
            f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block",
        )
        for name in results:
            need(
                name in waiting,
                f"messages.{number}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{name}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
            )
        need(len(set(results)) == len(results), "each tool_use must have a single result. Found multiple")
        first = [block["type"] == "tool_result" for block in content]
        need(
            sorted(first, reverse=True) == first,
            f"messages.{number}: tool_result blocks must come first in content",
        )
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        for name in waiting:
            need(name not in seen, "messages: `tool_use` ids must be unique")
            seen.add(name)
        if message["role"] == "assistant":
            need(
                content[-1]["type"] not in _THINKING,
                f"messages.{number}: The final block in an assistant message cannot be `thinking`.",
            )
            kinds = [block["type"] for block in content]
            thinks = any(kind in _THINKING for kind in kinds)
            need(
                not thinks or kinds[0] in _THINKING,
                f"messages.{number}.content.0: If an assistant message contains any thinking blocks, the first block "
                f"must be `thinking` or `redacted_thinking`. Found `{kinds[0]}`.",
            )
            late = "tool_use" in kinds and kinds[-1] != "tool_use"
            need(
                not late, f"messages.{number}: `tool_use` must be followed by its result, not by {kinds[-1]}"
            )
    need(not waiting, "`tool_use` ids were found without `tool_result` blocks immediately after")
    last = [message for message in messages if message["role"] == "assistant"][-1:]
    at_work = (
        last
        and isinstance(messages[-1]["content"], list)
        and messages[-1]["content"][-1]["type"] == "tool_result"
    )
    if at_work and "thinking" not in body and (body.get("tool_choice", {}).get("type") == "any"):
        need(
            last[0]["content"][0]["type"] not in _THINKING,
            "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
        )
    if seen:
        need(body.get("tools"), "Requests which include `tool_use` or `tool_result` blocks must define tools")


def _block(block: dict[str, Any], role: str, where: str) -> None:
    kind = block.get("type")
    need(
        kind in _BLOCKS,
        f"{where}: Input tag {kind!r} found using 'type' does not match any of the expected tags",
    )
    need(kind in _IN[role], f"{where}: {kind} blocks are not permitted in {role} messages")
    only(block, _BLOCKS[kind], where)
    if kind == "text":
        need(block["text"], "messages: text content blocks must be non-empty")
        need(block["text"].strip(), "messages: text content blocks must contain non-whitespace text")
    elif kind == "thinking":
        need(block.get("signature"), f"{where}.thinking.signature: Field required")
        if block["signature"] != f"signed:{len(block['thinking'])}":
            raise Rejected(f"{where}: Invalid `signature` in `thinking` block")
    elif kind == "redacted_thinking":
        need(block.get("data"), f"{where}.redacted_thinking.data: Field required")
    elif kind == "tool_use":
        need(re.fullmatch("[a-zA-Z0-9_-]+", block["id"]), f"{where}.tool_use.id: String should match pattern")
        tool_name(block["name"], f"{where}.tool_use.name")
        need(isinstance(block["input"], dict), f"{where}.tool_use.input: Input should be a valid dictionary")
    elif kind == "tool_result":
        inner = block.get("content", "")
        for part in inner if isinstance(inner, list) else ():
            need(part["type"] in ("text", "image"), f"{where}: {part['type']} in a result")
            _block(part, "user", where)
    elif kind == "image":
        need(
            block["source"]["media_type"] in _MEDIA,
            f"{where}.image.source.base64.media_type: Input should be an image",
        )
        base64_data(block["source"]["data"], where)


def _begins_with_thinking(messages: list[dict[str, Any]]) -> None:
    """Of the turn at work: all answers since a person's message that isn't results alone."""
    for message in reversed(messages):
        content = message["content"]
        kinds = {"text"} if isinstance(content, str) else {block["type"] for block in content}
        if message["role"] == "user" and "tool_result" not in kinds:
            return
        if message["role"] == "assistant":
            found = content[0]["type"] if isinstance(content, list) else "text"
            need(
                found in _THINKING,
                f"messages: Expected `thinking` or `redacted_thinking`, but found `{found}`. When "
                "`thinking` is enabled, a final `assistant` message must start with a thinking block",
            )
