"""Chat completions as OpenAI, Moonshot and servers with a chat template take them."""

from __future__ import annotations

from typing import Any

from .rules import EFFORTS, base64_data, json_object, need, object_schema, plain_schema, tool_name

_OPENAI = frozenset(
    [
        "model",
        "messages",
        "tools",
        "tool_choice",
        "stream",
        "stream_options",
        "max_completion_tokens",
        "max_tokens",
        "reasoning_effort",
        "response_format",
        "prompt_cache_key",
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "n",
        "stop",
        "seed",
        "store",
        "metadata",
        "user",
        "verbosity",
    ]
)
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def openai(body: dict[str, Any]) -> None:
    extra = set(body) - _OPENAI
    need(not extra, f"Unrecognized request argument supplied: {sorted(extra)}")
    need(not ("max_tokens" in body and "max_completion_tokens" in body), "max_tokens is not compatible")
    efforts = (None, "none", "minimal", "low", "medium", "high", "xhigh", "max")
    need(body.get("reasoning_effort") in efforts, "Invalid value: reasoning_effort")
    _common(body, id_length=40)
    for number, message in enumerate(body["messages"]):
        allowed = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal"}
        extra = set(message) - allowed
        need(not extra, f"messages[{number}]: Unrecognized {sorted(extra)}")
        need(
            message["role"] in ("assistant",) or message.get("content") is not None,
            f"Invalid value for 'content': expected a string, got null. messages[{number}]",
        )


def kimi(body: dict[str, Any]) -> None:
    need(
        body.get("reasoning_effort") in (None, "low", "high", "max"),
        "reasoning_effort must be low, high or max",
    )
    need(
        "thinking" not in body or "reasoning_effort" not in body,
        "thinking and reasoning_effort exclude each other",
    )
    _common(body, id_length=64)
    for tool in body.get("tools", ()):
        parameters = tool["function"]["parameters"]
        need(
            parameters.get("type") == "object",
            'tools.function.parameters.type is required and must be "object"',
        )
        plain_schema(parameters)
        first = tool["function"]["name"][:1]
        need(first.isalpha() or first == "_", "function name is invalid, must start with a letter")
    for number, message in enumerate(body["messages"]):
        role, content, calls = message["role"], message.get("content"), message.get("tool_calls")
        for part in content if isinstance(content, list) else ():
            need(part["type"] != "text" or part["text"], "Invalid request: text content is empty")
        if not calls:
            need(content, f"the message at position {number} with role '{role}' must not be empty")
        if calls and "reasoning_effort" in body:
            thinking = message.get("reasoning_content", message.get("reasoning"))
            need(
                isinstance(thinking, str),
                "thinking is enabled but reasoning_content is missing in assistant tool "
                f"call message at index {number}",
            )


def template(body: dict[str, Any]) -> None:
    """llama.cpp, vLLM and others that put a conversation through a chat template."""
    _common(body, id_length=256)
    before = ""
    for number, message in enumerate(body["messages"]):
        role = message["role"]
        need(number == 0 or role != "system", "System message must be at the beginning.")
        need(
            not role == before == "user",
            "Conversation roles must alternate user/assistant/user/assistant/...",
        )
        need(not role == before == "assistant", "Conversation roles must alternate")
        need("content" in message, f"messages[{number}]: all non-assistant messages must contain 'content'")
        before = role
    first = next(message["role"] for message in body["messages"] if message["role"] != "system")
    need(first == "user", "After the optional system message, conversation roles must alternate, user first")
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            json_object(call["function"]["arguments"], "tool_calls.function.arguments")


def _common(body: dict[str, Any], id_length: int) -> None:
    need(isinstance(body.get("model"), str) and body["model"], "you must provide a model parameter")
    need(body.get("stream") is True, "stream")
    need(sum(name in body for name in EFFORTS) <= 1, "only one of the thinking parameters can be given")
    for name in ("max_tokens", "max_completion_tokens"):
        need(name not in body or body[name] >= 1, f"Invalid '{name}': integer below minimum value")
    tools = body.get("tools")
    need(tools != [], "[] is too short - 'tools'")
    need(tools or "tool_choice" not in body, "'tool_choice' is only allowed when 'tools' are specified.")
    need(body.get("tool_choice", "auto") in ("auto", "none", "required"), "Invalid value: tool_choice")
    for number, tool in enumerate(tools or ()):
        tool_name(tool["function"]["name"], f"tools[{number}].function.name")
        object_schema(
            tool["function"]["parameters"], f"Invalid schema for function {tool['function']['name']!r}"
        )
    need(len(body.get("prompt_cache_key", "")) <= 64, "Invalid 'prompt_cache_key': string too long")
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "[] is too short - 'messages'")
    _pairs(messages, id_length)
    for number, message in enumerate(messages):
        need(
            message.get("role") in _ROLES,
            f"Invalid value: {message.get('role')!r} at messages[{number}].role",
        )
        _content(message, number)


def _content(message: dict[str, Any], number: int) -> None:
    content = message.get("content")
    where = f"messages[{number}].content"
    if message["role"] == "assistant":
        need(
            content is not None or message.get("tool_calls"),
            f"Invalid value for '{where}': expected a string",
        )
    else:
        need("content" in message, f"Missing required parameter: '{where}'.")
    if isinstance(content, list):
        need(content, f"Invalid '{where}': empty array")
        for part in content:
            if part["type"] == "text":
                need(isinstance(part["text"], str), f"{where}: text")
            else:
                need(part["type"] == "image_url", f"{where}: unknown part")
                need(message["role"] == "user", "Image URLs are only allowed for messages with role 'user'")
                head, _, data = part["image_url"]["url"].partition(";base64,")
                need(head.startswith("data:image/"), f"{where}: Invalid MIME type")
                base64_data(data, where)
    else:
        need(content is None or isinstance(content, str), f"Invalid type for '{where}'")


def _pairs(messages: list[dict[str, Any]], id_length: int) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        if message.get("role") == "tool":
            name = message.get("tool_call_id")
            need(
                name in waiting,
                "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
            )
            waiting.remove(name)
            continue
        need(
            not waiting,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {waiting}",
        )
        calls = message.get("tool_calls")
        need(calls != [], f"Invalid 'messages[{number}].tool_calls': empty array")
        for index, call in enumerate(calls or ()):
            where = f"messages[{number}].tool_calls[{index}]"
            need(message["role"] == "assistant", f"{where}: only assistants call")
            need(
                call.get("type") == "function" and isinstance(call.get("id"), str) and call["id"],
                f"{where}.id: missing",
            )
            need(
                len(call["id"]) <= id_length,
                f"Invalid '{where}.id': string too long. Expected a string with maximum length {id_length}",
            )
            need(call["id"] not in seen, f"Duplicate value for 'tool_call_id' of {call['id']}")
            seen.add(call["id"])
            waiting.append(call["id"])
            tool_name(call["function"]["name"], f"{where}.function.name")
            need(
                isinstance(call["function"]["arguments"], str),
                f"{where}.function.arguments: expected a string",
            )
    need(not waiting, f"The following tool_call_ids did not have response messages: {waiting}")
