"""Conversations to segments in the tagged format of Kimi K3.

message   ::= <open> message role="…" … <sep> body <close> message <sep> <end_of_msg>
assistant ::= [think section] response section [tools section of calls, an argument a section]
The wording of the system's own messages is the format's, so that models that were trained on it know it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.errors import RequestError
from engine.prompt.messages import Call, Message, Prompt
from engine.prompt.results import Result, ordered
from engine.prompt.segments import Segment, joined, json_of, parts


class Marker(enum.Enum):
    """The markers, by the name that vocabularies give them."""

    OPEN = "<|open|>"
    CLOSE = "<|close|>"
    SEP = "<|sep|>"
    END = "<|end_of_msg|>"
    MEDIA_BEGIN = "<|media_begin|>"
    MEDIA_CONTENT = "<|media_content|>"
    MEDIA_PAD = "<|media_pad|>"
    MEDIA_END = "<|media_end|>"


TIERS = ("low", "high", "max")
_JSON_ONLY = (
    "Your response must be raw JSON data without markdown code blocks (```json) or any additional formatting."
)
_CHOICES = {"required": "You MUST call tools", "none": "You MUST NOT call any tools"}
_TOOLS = "# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n"
_MORE_TOOLS = (
    "## New Tools Available\nThe system dynamically extends the toolset via lazy-loading.\nYou have access to all "
    "existing and extended tools.\nHere are the specs for the extended tools.\n\n```json\n"
)


def render(prompt: Prompt) -> list[Segment]:
    """The prompt's segments, no two texts in a row. Errors: RequestError for what the format can't say."""
    return list(joined(_prompt(prompt)))


def thinking_start() -> list[Segment]:
    """What begins the thinking."""
    return list(joined(_open("think")))


def thinking_end() -> list[Segment]:
    """What ends the thinking and begins the response, where a cap has to."""
    return list(joined([*_close("think"), *_open("response")]))


def _prompt(prompt: Prompt) -> Iterator[Segment]:
    if prompt.tools:
        yield from _declared(prompt.tools, _TOOLS)
    if prompt.tier is not None:
        if prompt.tier not in TIERS:
            raise RequestError(f"unknown tier {prompt.tier!r}; known are {', '.join(TIERS)}")
        yield from _system(
            "thinking-effort",
            "`thinking_effort` guides on how much to think in your thinking channel (not including the response "
            "channel), supported values include `low`, `medium`, `high`, and `max`.\nNow the system is invoked with "
            f"`thinking_effort={prompt.tier}`.",
        )
    for message in ordered(prompt.messages):
        if isinstance(message, Result):
            yield from _result(message)
        else:
            yield from _message(message, prompt.tier is not None)
    if prompt.tool_choice is not None:
        said = f"The system is invoked with `tool_choice={prompt.tool_choice}`.\n"
        yield from _system("tool-choice", f"{said}{_CHOICES[prompt.tool_choice]} in the next message.")
    if prompt.response is not None:
        yield from _system("response-format", _response_format(prompt.response))
    if prompt.answer:
        yield from _open("message", role="assistant")
        yield from _open("response" if prompt.tier is None else "think")


def _message(message: Message, thinks: bool) -> Iterator[Segment]:
    if message.role == "system" and message.tools:
        yield from _declared(message.tools, _MORE_TOOLS)
        return
    named = {"name": message.name} if message.name else {}
    yield from _open("message", role=message.role, **named)
    if message.role == "assistant":
        yield from _assistant(message, thinks)
    else:
        yield from parts(message.content)
    yield from _end()


def _assistant(message: Message, thinks: bool) -> Iterator[Segment]:
    if thinks:
        yield from _section("think", [message.thinking if message.thinking.strip() else ""])
    yield from _section("response", parts(message.content))
    if message.calls:
        yield from _open("tools")
        for number, call in enumerate(message.calls, 1):
            yield from _open("call", tool=call.name, index=str(number))
            yield from _arguments(call)
            yield from _close("call")
        yield from _close("tools")


def _arguments(call: Call) -> Iterator[Segment]:
    if isinstance(call.arguments, str):
        if call.arguments.strip():
            yield from _section("json", [call.arguments], type="object")
        return
    for key, value in call.arguments.items():
        text = value if isinstance(value, str) else json_of(value)
        yield from _section("argument", [text], key=key, type=_type(value))


def _result(result: Result) -> Iterator[Segment]:
    yield from _open("message", role="tool", tool=result.name, index=str(result.index))
    yield from parts(result.message.content)
    yield from _end()


def _response_format(response: Mapping[str, Any] | str) -> str:
    if isinstance(response, str):
        return f"The system is invoked with `response_format=json_object`.\n{_JSON_ONLY}"
    return (
        f"The system is invoked with `response_format=json_schema`.\n{_JSON_ONLY}\n"
        f"The JSON data must match the following schema:\n```json\n{_sorted_json(response)}\n```"
    )


def _declared(tools: Sequence[Mapping[str, Any]], said: str) -> Iterator[Segment]:
    yield from _open("message", role="system", type="tool-declare")
    yield f"{said}{_sorted_json(tools)}\n```"
    yield from _end()


def _system(kind: str, text: str) -> Iterator[Segment]:
    yield from _open("message", role="system", type=kind)
    yield text
    yield from _end()


def _section(tag: str, body: Iterable[Segment], **attributes: str) -> Iterator[Segment]:
    yield from _open(tag, **attributes)
    yield from body
    yield from _close(tag)


def _open(tag: str, **attributes: str) -> Iterator[Segment]:
    yield Marker.OPEN
    yield tag + "".join(f' {name}="{_escaped(value)}"' for name, value in attributes.items())
    yield Marker.SEP


def _close(tag: str) -> Iterator[Segment]:
    yield from (Marker.CLOSE, tag, Marker.SEP)


def _end() -> Iterator[Segment]:
    yield from _close("message")
    yield Marker.END


def _escaped(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;")


def _type(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds: tuple[tuple[Any, str], ...] = (
        (type(None), "null"), (int | float, "number"), (str, "string"), (Mapping, "object"),
    )  # fmt: skip
    return next((name for kind, name in kinds if isinstance(value, kind)), "array")


def _sorted_json(value: object) -> str:
    """Without blanks, keys in the order of the alphabet, whatever their case."""
    if isinstance(value, Mapping):
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]).lower())
        return "{" + ",".join(f"{json_of(str(key))}:{_sorted_json(item)}" for key, item in pairs) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(map(_sorted_json, value)) + "]"
    return json_of(value)
