"""What a scripted model says, as each API streams it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_ENDS = {"messages": {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}}


@dataclass(frozen=True)
class Turn:
    """thinking: None for none at all. calls: id, name, arguments. label: the field that thinking comes in, in chat.
    size: characters in a piece. stop: in the words of chat, "" for what fits. usage: prompt, cached, output, thinking
    tokens."""

    thinking: str | None = None
    text: str = ""
    calls: Sequence[tuple[str, str, str]] = ()
    label: str = "reasoning_content"
    size: int = 7
    stop: str = ""
    usage: tuple[int, int, int, int] = (100, 60, 20, 5)

    @property
    def end(self) -> str:
        return self.stop or ("tool_calls" if self.calls else "stop")

    def pieces(self, text: str) -> list[str]:
        return [text[start : start + self.size] for start in range(0, len(text), self.size)]


def frames(api: str, turn: Turn) -> list[bytes]:
    """The answer as server-sent events, a frame each. api: `chat`, `responses` or `messages`."""
    named = [(data.get("type", ""), json.dumps(data, ensure_ascii=False)) for data in events(api, turn)]
    if api == "chat":
        return [*(f"data: {data}\n\n".encode() for _, data in named), b"data: [DONE]\n\n"]
    return [f"event: {name}\ndata: {data}\n\n".encode() for name, data in named]


def events(api: str, turn: Turn) -> list[dict[str, Any]]:
    return {"chat": _chat, "responses": _responses, "messages": _messages}[api](turn)


def _chat(turn: Turn) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    if turn.thinking is not None:
        deltas += [{turn.label: piece} for piece in turn.pieces(turn.thinking) or [""]]
    deltas += [{"content": piece} for piece in turn.pieces(turn.text)]
    for index, (name, tool, arguments) in enumerate(turn.calls):
        function = {"name": tool, "arguments": ""}
        deltas.append(
            {"tool_calls": [{"index": index, "id": name, "type": "function", "function": function}]}
        )
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in turn.pieces(arguments)
        ]
    prompt, cached, output, thinking = turn.usage
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": thinking},
    }
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    found = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    found.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": turn.end}]})
    return [*found, {**head, "choices": [], "usage": usage}]


def _messages(turn: Turn) -> list[dict[str, Any]]:
    prompt, cached, output, thinking = turn.usage
    usage = {"input_tokens": prompt - cached, "cache_read_input_tokens": cached, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage}
    found: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if turn.thinking is not None:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in turn.pieces(turn.thinking)]
        deltas.append({"type": "signature_delta", "signature": f"signed:{len(turn.thinking)}"})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if turn.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in turn.pieces(turn.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for name, tool, arguments in turn.calls:
        deltas = [
            {"type": "input_json_delta", "partial_json": piece} for piece in ["", *turn.pieces(arguments)]
        ]
        blocks.append(({"type": "tool_use", "id": name, "name": tool, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        found.append({"type": "content_block_start", "index": index, "content_block": block})
        found += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        found.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": _ENDS["messages"][turn.end], "stop_sequence": None}
    counted = {"output_tokens": output, "output_tokens_details": {"thinking_tokens": thinking}}
    found.append({"type": "message_delta", "delta": end, "usage": counted})
    return [*found, {"type": "message_stop"}]


def _responses(turn: Turn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}},
    ]
    items: list[dict[str, Any]] = []

    def item(added: dict[str, Any], deltas: list[dict[str, Any]], done: dict[str, Any]) -> None:
        index = len(items)
        found.append({"type": "response.output_item.added", "output_index": index, "item": added})
        found.extend({**delta, "output_index": index} for delta in deltas)
        found.append({"type": "response.output_item.done", "output_index": index, "item": done})
        items.append(done)

    if turn.thinking is not None:
        item_id = f"rs_{len(turn.thinking)}"
        summary = [{"type": "summary_text", "text": turn.thinking}] if turn.thinking else []
        deltas = [
            {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece}
            for piece in turn.pieces(turn.thinking)
        ]
        added = {"type": "reasoning", "id": item_id, "summary": []}
        item(added, deltas, {**added, "summary": summary, "encrypted_content": f"sealed:{item_id}"})
    if turn.text:
        deltas = [
            {"type": "response.output_text.delta", "content_index": 0, "delta": p}
            for p in turn.pieces(turn.text)
        ]
        added = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "in_progress",
            "content": [],
        }
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        item(added, deltas, {**added, "status": "completed", "content": content})
    for name, tool, arguments in turn.calls:
        added = {"type": "function_call", "id": "fc_1", "call_id": name, "name": tool, "arguments": ""}
        deltas = [
            {"type": "response.function_call_arguments.delta", "delta": piece}
            for piece in turn.pieces(arguments)
        ]
        deltas.append({"type": "response.function_call_arguments.done", "arguments": arguments})
        item(added, deltas, {**added, "arguments": arguments})
    prompt, cached, output, thinking = turn.usage
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": thinking},
    }
    cut = turn.end == "length"
    response: dict[str, Any] = {
        "id": "resp_1",
        "status": "incomplete" if cut else "completed",
        "usage": usage,
    }
    if cut:
        response["incomplete_details"] = {"reason": "max_output_tokens"}
    return [*found, {"type": "response.incomplete" if cut else "response.completed", "response": response}]
