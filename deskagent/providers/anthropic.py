"""Requests to Anthropic's messages API, and servers that take the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deskagent.messages import Answer, Outcome, Said, Text, Thinking, Turn, Used
from deskagent.providers import content, pictures, schema, wire
from deskagent.providers.base import Ask, Choice
from deskagent.providers.content import Picture
from deskagent.providers.endpoint import Endpoint

PATH = "/messages"
LABEL = "thinking"
REDACTED = "redacted_thinking"
OUTPUT = 32_000
"""Tokens of an answer where neither the ask nor the model's capabilities say: the API has no default."""

_LEAST = 1024  # tokens of thinking below which the API takes no budget
_CHOICES = {Choice.NONE: {"type": "none"}, Choice.REQUIRED: {"type": "any"}}

Block = dict[str, Any]


def request(ask: Ask, endpoint: Endpoint) -> dict[str, Any]:
    """The body of a streaming request."""
    dialect = endpoint.dialect
    body: dict[str, Any] = {"model": endpoint.model}
    if tools := _tools(ask, endpoint):
        body["tools"] = tools
    if ask.system.strip():
        body["system"] = ask.system
    body["messages"] = messages(ask, endpoint)
    body["stream"] = True
    wire.merge(body, dialect.extra)
    wire.merge(body, dialect.cache)
    choice = ask.choice if ask.tools else Choice.NONE
    if tools and choice in _CHOICES and choice.value in dialect.choices:
        body["tool_choice"] = _CHOICES[choice]
    body[dialect.limit] = ask.most or endpoint.capabilities.output or OUTPUT
    if not _effort(body, ask, endpoint):
        body["messages"] = _without_thinking(body["messages"])
    if ask.schema is not None and endpoint.capabilities.grammar:
        wire.put(body, "output_config.format", {"type": "json_schema", "schema": ask.schema})
    return body


def messages(ask: Ask, endpoint: Endpoint) -> list[dict[str, Any]]:
    """The whole conversation. Each answer's results stand in the message after it, before anything else."""
    ids = wire.Ids(endpoint.dialect)
    found: list[dict[str, Any]] = []
    for turn in content.alternating(pictures.latest(ask.turns)):
        if isinstance(turn, Said):
            found.append(_message("user", [_block(piece) for piece in content.said(turn, ask, endpoint)]))
        else:
            found += _answer(turn, ask, endpoint, ids)
    return found


def _tools(ask: Ask, endpoint: Endpoint) -> list[dict[str, Any]]:
    """The tools; where there are none, those that the conversation used, since it is refused without them."""
    known = {tool.name: (tool.description, tool.parameters) for tool in ask.tools}
    if not known:
        used = (used for turn in ask.turns if isinstance(turn, Answer) for used in turn.used)
        names = dict.fromkeys(wire.tool_name(one.call.name) for one in used)
        known = {name: ("Not available now.", {"type": "object", "properties": {}}) for name in names}
    simple = endpoint.dialect.plain_schemas
    return [
        {
            "name": name,
            "description": words,
            "input_schema": schema.plain(parameters) if simple else parameters,
        }
        for name, (words, parameters) in known.items()
    ]


def _effort(body: dict[str, Any], ask: Ask, endpoint: Endpoint) -> bool:
    """Adds how much it may think. A budget is part of the most tokens. Thinking is left off, and False given, where
    the API would refuse it: where a tool is required, where so few tokens are left, and where the turn at work has an
    answer that came without."""
    dialect, effort = endpoint.dialect, endpoint.effort(ask)
    on = not (ask.choice is Choice.REQUIRED and ask.tools)
    if effort is None:
        return on
    if isinstance(effort, int):
        effort = min(effort, body[dialect.limit] - _LEAST)
        on = on and effort >= _LEAST and _thought(ask.turns, endpoint)
    if on:
        wire.merge(body, dialect.effort_with)
    if on or isinstance(effort, str):
        wire.put(body, dialect.effort, effort)
    return on


def _without_thinking(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The turn at work without the thinking in it, which the API refuses where thinking is off."""
    found = list(messages)
    for index in range(len(messages) - 1, -1, -1):
        blocks = messages[index]["content"]
        if messages[index]["role"] == "assistant":
            kept = [block for block in blocks if block["type"] not in (LABEL, REDACTED)]
            found[index] = _message("assistant", kept)
        elif any(block["type"] != "tool_result" for block in blocks):
            break
    return found


def _thought(turns: tuple[Turn, ...], endpoint: Endpoint) -> bool:
    """Whether all answers since the person's last word begin with thinking that can go back."""
    for turn in reversed(turns):
        if isinstance(turn, Said):
            return True
        if not turn.used:
            return True
        first = turn.parts[0]
        if not (endpoint.wrote(turn.model) and isinstance(first, Thinking) and _thinking(first)):
            return False
    return True


def _thinking(part: Thinking) -> Block | None:
    """The block as it came; None where it isn't one of this API's, or was cut before its signature."""
    if part.label == LABEL and (signature := part.raw.get("signature")):
        return {"type": "thinking", "thinking": part.text, "signature": signature}
    if part.label == REDACTED and (data := part.raw.get("data")):
        return {"type": "redacted_thinking", "data": data}
    return None


def _answer(turn: Answer, ask: Ask, endpoint: Endpoint, ids: wire.Ids) -> list[dict[str, Any]]:
    blocks: list[Block] = []
    results: list[Block] = []
    for part in turn.parts:
        match part:
            case Thinking():
                if endpoint.wrote(turn.model) and (block := _thinking(part)):
                    blocks.append(block)
            case Text(text=text):
                if text.strip():
                    blocks.append(_text(text))
            case Used(call=call, result=result):
                name = ids.next(call)
                blocks.append(
                    {
                        "type": "tool_use",
                        "id": name,
                        "name": wire.tool_name(call.name),
                        "input": wire.arguments(call.arguments),
                    }
                )
                told: Block = {"type": "tool_result", "tool_use_id": name}
                told["content"] = _result(content.result(result, ask, endpoint))
                if result.outcome is not Outcome.DONE:
                    told["is_error"] = True
                results.append(told)
    found = [_message("assistant", _ordered(blocks))]
    return [*found, _message("user", results)] if results else found


def _ordered(blocks: list[Block]) -> list[Block]:
    """Blocks as the API takes them: thinking first where there is any, nothing between a call and its result, and
    thinking never last."""
    if blocks and blocks[0]["type"] not in (LABEL, REDACTED):
        blocks = [block for block in blocks if block["type"] not in (LABEL, REDACTED)]
    calls = [index for index, block in enumerate(blocks) if block["type"] == "tool_use"]
    if calls:
        last = calls[-1]
        late = [block for block in blocks[last:] if block["type"] == "text"]
        return [*blocks[:last], *late, blocks[last]]
    if not blocks or blocks[-1]["type"] in (LABEL, REDACTED):
        return [*blocks, _text(content.NO_ANSWER)]
    return blocks


def _message(role: str, blocks: Iterable[Block]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _block(piece: str | Picture) -> Block:
    if isinstance(piece, str):
        return _text(piece)
    source = {"type": "base64", "media_type": piece.media, "data": piece.data}
    return {"type": "image", "source": source}


def _result(pieces: list[str | Picture]) -> str | list[Block]:
    if all(isinstance(piece, str) for piece in pieces):
        return content.words(pieces)
    return [_block(piece) for piece in pieces]
