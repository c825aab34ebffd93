"""Streams of Anthropic's messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from deskagent.providers.anthropic import LABEL, REDACTED
from deskagent.providers.base import CallDelta, Delta, Stop, TextDelta, ThinkingDelta, Usage
from deskagent.providers.reading import Reader, mapping, number, text

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "pause_turn": Stop.END,
    "tool_use": Stop.CALLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSED,
}


class AnthropicReader(Reader):
    """A content block is a part. `ping` and what is unknown is passed over."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._kinds: dict[Any, str] = {}
        self._inputs: dict[Any, str] = {}
        self._usage: dict[str, Any] = {}

    def read(self, data: Mapping[str, Any]) -> list[Delta]:
        index = data.get("index")
        match data.get("type"):
            case "message_start":
                return self._counted(mapping(mapping(data.get("message")).get("usage")))
            case "content_block_start":
                return self._start(index, mapping(data.get("content_block")))
            case "content_block_delta":
                return self._delta(index, mapping(data.get("delta")))
            case "content_block_stop" if index in self._inputs:
                arguments = self._inputs.pop(index)
                return [CallDelta(self.part(index), arguments=arguments)] if arguments else []
            case "message_delta":
                if reason := text(mapping(data.get("delta")).get("stop_reason")):
                    self.whole = True
                    self.stop = _STOPS.get(reason, Stop.END)
                return self._counted(mapping(data.get("usage")))
            case "message_stop":
                self.whole = self.done = True
        return []

    def _start(self, index: Any, block: Mapping[str, Any]) -> list[Delta]:
        kind = self._kinds[index] = text(block.get("type"))
        if kind == "tool_use":
            # what stands here counts only where no pieces follow
            self._inputs[index] = json.dumps(mapping(block.get("input")), ensure_ascii=False)
            return [self.call(index, text(block.get("id")), text(block.get("name")))]
        if kind == "thinking":
            signature = text(block.get("signature"))
            raw = {"signature": signature} if signature else {}
            return [ThinkingDelta(self.part(index), text(block.get("thinking")), LABEL, raw)]
        if kind == "redacted_thinking":
            return [ThinkingDelta(self.part(index), "", REDACTED, {"data": text(block.get("data"))})]
        if kind == "text" and (piece := text(block.get("text"))):
            return [TextDelta(self.part(index), piece)]
        return []

    def _delta(self, index: Any, delta: Mapping[str, Any]) -> list[Delta]:
        match delta.get("type"), self._kinds.get(index):
            case "text_delta", "text":
                return [TextDelta(self.part(index), text(delta.get("text")))]
            case "thinking_delta", "thinking":
                return [ThinkingDelta(self.part(index), text(delta.get("thinking")), LABEL)]
            case "signature_delta", "thinking":
                return [
                    ThinkingDelta(self.part(index), "", LABEL, {"signature": text(delta.get("signature"))})
                ]
            case "input_json_delta", "tool_use":
                if piece := text(delta.get("partial_json")):
                    self._inputs[index] = ""
                    return [CallDelta(self.part(index), arguments=piece)]
        return []

    def _counted(self, given: Mapping[str, Any]) -> list[Delta]:
        """Usage so far: fields that a later event leaves out stay as they were."""
        if not given:
            return []
        self._usage |= {key: value for key, value in given.items() if value is not None}
        cached = number(self._usage.get("cache_read_input_tokens"))
        written = number(self._usage.get("cache_creation_input_tokens"))
        details = mapping(self._usage.get("output_tokens_details"))
        return [
            Usage(
                number(self._usage.get("input_tokens")) + cached + written,
                cached,
                number(self._usage.get("output_tokens")),
                number(details.get("thinking_tokens")),
            )
        ]
