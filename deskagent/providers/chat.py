"""Requests to OpenAI's chat completions, as it and its many followers take them.

What stays the same from ask to ask comes first in the request, so that a longer conversation begins with the bytes of
a shorter one.
"""

from __future__ import annotations

import hashlib
from typing import Any

from deskagent.messages import Answer, Said, Text, Thinking
from deskagent.providers import content, pictures, schema, wire
from deskagent.providers.base import Ask, Tool
from deskagent.providers.content import Picture
from deskagent.providers.dialects import Dialect
from deskagent.providers.endpoint import Endpoint

PATH = "/chat/completions"
DETAILS = "reasoning_details"
"""What some servers send beside thinking, and want back as it was."""

_FOLLOWS = "(The picture is in the next message.)"

Message = dict[str, Any]


def request(ask: Ask, endpoint: Endpoint) -> dict[str, Any]:
    """The body of a streaming request."""
    dialect = endpoint.dialect
    body: dict[str, Any] = {"model": endpoint.model}
    if ask.tools:
        body["tools"] = [_tool(tool, dialect) for tool in ask.tools]
    body["messages"] = messages(ask, endpoint)
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    wire.merge(body, dialect.extra)
    if ask.tools and ask.choice.value in dialect.choices:
        body["tool_choice"] = ask.choice.value
    if ask.most is not None:
        body[dialect.limit] = ask.most
    if (effort := endpoint.effort(ask)) is not None:
        wire.merge(body, dialect.effort_with)
        wire.put(body, dialect.effort, effort)
    if ask.schema is not None and endpoint.capabilities.grammar:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": ask.schema, "strict": True},
        }
    if dialect.session and ask.session:
        body[dialect.session] = session_key(ask.session)
    return body


def session_key(session: str) -> str:
    """A conversation's name in at most 64 characters."""
    return session if len(session) <= 64 else hashlib.sha256(session.encode()).hexdigest()


def messages(ask: Ask, endpoint: Endpoint) -> list[Message]:
    """The whole conversation."""
    found: list[Message] = [{"role": "system", "content": ask.system}] if ask.system.strip() else []
    ids = wire.Ids(endpoint.dialect)
    for turn in content.alternating(pictures.latest(ask.turns)):
        if isinstance(turn, Said):
            found.append({"role": "user", "content": _user(content.said(turn, ask, endpoint))})
        else:
            found += _answer(turn, ask, endpoint, ids)
    return _alternating(found) if endpoint.dialect.alternate else found


def _tool(tool: Tool, dialect: Dialect) -> dict[str, Any]:
    parameters = schema.plain(tool.parameters) if dialect.plain_schemas else tool.parameters
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _user(pieces: list[str | Picture]) -> str | list[dict[str, Any]]:
    if all(isinstance(piece, str) for piece in pieces):
        return content.words(pieces)  # many templates know no parts
    return [_part(piece) for piece in pieces]


def _part(piece: str | Picture) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    return {"type": "image_url", "image_url": {"url": piece.url}}


def _answer(turn: Answer, ask: Ask, endpoint: Endpoint, ids: wire.Ids) -> list[Message]:
    """An answer's message, its results', and one with the results' pictures."""
    dialect = endpoint.dialect
    used = [(ids.next(one.call), one) for one in turn.used]
    message: Message = {"role": "assistant"}
    text = _text(turn, endpoint)
    if text.strip():
        message["content"] = text
    elif not used:
        message["content"] = content.NO_ANSWER
    elif dialect.empty != "omit":
        message["content"] = dialect.empty
    if endpoint.wrote(turn.model):
        _think(message, turn, dialect)
    filler = dialect.thinking_filler
    if used and filler is not None and not any(name in message for name in dialect.thinking):
        message[dialect.thinking[0]] = filler
    if used:
        message["tool_calls"] = [
            {
                "id": name,
                "type": "function",
                "function": {
                    "name": wire.tool_name(one.call.name),
                    "arguments": wire.arguments_text(one.call.arguments),
                },
            }
            for name, one in used
        ]
    found, pictures = [message], []
    for name, one in used:
        pieces = content.result(one.result, ask, endpoint)
        shown = [piece for piece in pieces if isinstance(piece, Picture)]
        if shown and not dialect.result_images:
            pictures += [f"From {wire.tool_name(one.call.name)}, call {name}:", *shown]
            found.append({"role": "tool", "tool_call_id": name, "content": content.words(pieces) or _FOLLOWS})
        else:
            found.append({"role": "tool", "tool_call_id": name, "content": _user(pieces)})
    if pictures:
        found.append({"role": "user", "content": _user(pictures)})
    return found


def _text(turn: Answer, endpoint: Endpoint) -> str:
    """The answer's text, with thinking in it where it came so."""
    if not (tags := endpoint.dialect.think_tags) or not endpoint.wrote(turn.model):
        return turn.text
    found = ""
    for part in turn.parts:
        if isinstance(part, Thinking) and part.label == tags[0]:
            found += f"{tags[0]}{part.text}{tags[1]}"
        elif isinstance(part, Text):
            found += part.text
    return found


def _think(message: Message, turn: Answer, dialect: Dialect) -> None:
    """Adds the thinking under the name that it came by, also where it is empty."""
    for part in turn.parts:
        if not isinstance(part, Thinking) or not dialect.thinking or part.label.startswith("<"):
            continue
        known = part.label in dialect.thinking
        label = part.label if known else dialect.thinking[0]
        message[label] = message.get(label, "") + part.text
        if known and DETAILS in part.raw:
            message[DETAILS] = part.raw[DETAILS]


def _alternating(found: list[Message]) -> list[Message]:
    """Messages of the person that stand in a row as one."""
    merged: list[Message] = []
    for message in found:
        if merged and message["role"] == "user" == merged[-1]["role"]:
            parts = [*_parts(merged[-1]["content"]), *_parts(message["content"])]
            texts = [part["text"] for part in parts if part["type"] == "text"]
            content_ = "\n\n".join(texts) if len(texts) == len(parts) else parts
            merged[-1] = {"role": "user", "content": content_}
        else:
            merged.append(message)
    return merged


def _parts(given: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": given}] if isinstance(given, str) else given
