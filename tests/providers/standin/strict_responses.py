"""OpenAI's responses API, with nothing kept on the server."""

from __future__ import annotations

from typing import Any

from .rules import base64_data, need, object_schema, only, tool_name

_FIELDS = frozenset(
    [
        "model",
        "input",
        "instructions",
        "tools",
        "tool_choice",
        "stream",
        "store",
        "include",
        "reasoning",
        "max_output_tokens",
        "text",
        "prompt_cache_key",
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "metadata",
        "truncation",
    ]
)
_REASONING = ("type", "id", "summary", "encrypted_content", "content", "status")


def check(body: dict[str, Any]) -> None:
    only(body, _FIELDS, "Unknown parameter")
    need(body.get("stream") is True and body.get("store") is False, "store")
    need(body.get("max_output_tokens", 16) >= 16, "Invalid 'max_output_tokens': integer below minimum value")
    effort = body.get("reasoning", {}).get("effort")
    need(
        effort in (None, "none", "minimal", "low", "medium", "high", "xhigh", "max"),
        "Invalid value: reasoning.effort",
    )
    need(body.get("tools") or "tool_choice" not in body, "Tool choice must be specified with tools")
    for number, tool in enumerate(body.get("tools", ())):
        only(tool, ("type", "name", "description", "parameters", "strict"), f"tools[{number}]")
        tool_name(tool["name"], f"tools[{number}].name")
        object_schema(tool["parameters"], f"Invalid schema for function {tool['name']!r}")
    need(len(body.get("prompt_cache_key", "")) <= 64, "Invalid 'prompt_cache_key': string too long")
    items = body.get("input")
    need(items, "Missing required parameter: 'input'")
    called: list[str] = []
    answered: list[str] = []
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        where = f"input[{number}]"
        if kind == "message":
            only(item, ("type", "role", "content", "phase"), where)
            _message(item, where)
        elif kind == "reasoning":
            only(item, _REASONING, where)
            need(
                item.get("id") and isinstance(item.get("summary"), list),
                f"Missing required parameter: '{where}.summary'",
            )
            need(
                item.get("encrypted_content"),
                f"Item with id '{item['id']}' not found. Items are not persisted when "
                "`store` is set to false.",
            )
            after = items[number + 1] if number + 1 < len(items) else {}
            own = after.get("type") in ("function_call", "reasoning") or after.get("role") == "assistant"
            need(
                own,
                f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.",
            )
        elif kind == "function_call":
            only(item, ("type", "id", "call_id", "name", "arguments", "status"), where)
            tool_name(item["name"], f"{where}.name")
            need(
                item["call_id"] and len(item["call_id"]) <= 64, f"Invalid '{where}.call_id': string too long"
            )
            need(item["call_id"] not in called, f"Duplicate item found with id {item['call_id']}")
            need(isinstance(item["arguments"], str), f"{where}.arguments")
            called.append(item["call_id"])
        else:
            need(kind == "function_call_output", f"Invalid value: {kind!r}")
            only(item, ("type", "call_id", "output", "id", "status"), where)
            need(
                item["call_id"] in called,
                f"No tool call found for function call output with call_id {item['call_id']}.",
            )
            need(item["call_id"] not in answered, "Duplicate function call output")
            answered.append(item["call_id"])
            if isinstance(item["output"], list):
                _parts(item["output"], where)
    missing = [name for name in called if name not in answered]
    need(not missing, f"No tool output found for function call {', '.join(missing)}.")


def _message(item: dict[str, Any], where: str) -> None:
    need(item["role"] in ("user", "assistant", "system", "developer"), f"{where}.role")
    content = item["content"]
    need(content, f"{where}.content is empty")
    need(isinstance(content, str | list), f"Invalid type for '{where}.content'")
    if isinstance(content, list):
        _parts(content, where)


def _parts(parts: list[dict[str, Any]], where: str) -> None:
    for part in parts:
        if part["type"] == "input_text":
            need(isinstance(part["text"], str), f"{where}.text")
        else:
            need(
                part["type"] == "input_image" and part["detail"] in ("auto", "low", "high"),
                f"{where}: unknown part",
            )
            head, _, data = part["image_url"].partition(";base64,")
            need(head.startswith("data:image/"), f"{where}: Invalid image")
            base64_data(data, where)
