"""Requests to OpenAI's responses API. The server keeps nothing of them: reasoning goes back encrypted, as it came."""

from __future__ import annotations

from typing import Any

from deskagent.messages import Answer, Said, Text, Thinking, Used
from deskagent.providers import chat, content, pictures, schema, wire
from deskagent.providers.base import Ask
from deskagent.providers.content import Picture
from deskagent.providers.endpoint import Endpoint

PATH = "/responses"
LABEL = "reasoning"
"""The label of thinking that is an item of this API; its `raw` is `{"item": …}`."""

Item = dict[str, Any]


def request(ask: Ask, endpoint: Endpoint) -> dict[str, Any]:
    """The body of a streaming request."""
    dialect = endpoint.dialect
    body: dict[str, Any] = {"model": endpoint.model}
    if ask.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": schema.plain(tool.parameters) if dialect.plain_schemas else tool.parameters,
                "strict": False,
            }
            for tool in ask.tools
        ]
    if ask.system.strip():
        body["instructions"] = ask.system
    body["input"] = items(ask, endpoint)
    body["stream"] = True
    wire.merge(body, dialect.extra)
    if ask.tools and ask.choice.value in dialect.choices:
        body["tool_choice"] = ask.choice.value
    if ask.most is not None:
        body[dialect.limit] = ask.most
    if (effort := endpoint.effort(ask)) is not None:
        wire.merge(body, dialect.effort_with)
        wire.put(body, dialect.effort, effort)
    if ask.schema is not None and endpoint.capabilities.grammar:
        body["text"] = {
            "format": {"type": "json_schema", "name": "answer", "schema": ask.schema, "strict": True}
        }
    if dialect.session and ask.session:
        body[dialect.session] = chat.session_key(ask.session)
    return body


def items(ask: Ask, endpoint: Endpoint) -> list[Item]:
    """The whole conversation."""
    ids = wire.Ids(endpoint.dialect)
    found: list[Item] = []
    for turn in content.alternating(pictures.latest(ask.turns)):
        if isinstance(turn, Said):
            found.append(_user(content.said(turn, ask, endpoint)))
        else:
            found += _answer(turn, ask, endpoint, ids)
    return found


def _message(role: str, text: str) -> Item:
    return {"type": "message", "role": role, "content": text}


def _user(pieces: list[str | Picture]) -> Item:
    return {"type": "message", "role": "user", "content": [_part(piece) for piece in pieces]}


def _part(piece: str | Picture) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"type": "input_text", "text": piece}
    return {"type": "input_image", "image_url": piece.url, "detail": "auto"}


def _answer(turn: Answer, ask: Ask, endpoint: Endpoint, ids: wire.Ids) -> list[Item]:
    """An answer's items, then its results. A reasoning item has to be followed by one that came of it."""
    found: list[Item] = []
    waiting: list[Item] = []
    results: list[Item] = []
    for part in turn.parts:
        match part:
            case Thinking(label=label, raw=raw):
                if endpoint.wrote(turn.model) and label == LABEL and isinstance(raw.get("item"), dict):
                    waiting.append({key: value for key, value in raw["item"].items() if value is not None})
            case Text(text=text):
                if text.strip():
                    found += [*waiting, _message("assistant", text)]
                    waiting = []
            case Used(call=call, result=result):
                name = ids.next(call)
                told = {
                    "type": "function_call",
                    "call_id": name,
                    "name": wire.tool_name(call.name),
                    "arguments": wire.arguments_text(call.arguments),
                }
                found += [*waiting, told]
                waiting = []
                results.append(
                    {
                        "type": "function_call_output",
                        "call_id": name,
                        "output": _output(content.result(result, ask, endpoint)),
                    }
                )
    return [*(found or [_message("assistant", content.NO_ANSWER)]), *results]


def _output(pieces: list[str | Picture]) -> str | list[dict[str, Any]]:
    if all(isinstance(piece, str) for piece in pieces):
        return content.words(pieces)
    return [_part(piece) for piece in pieces]
