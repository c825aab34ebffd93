"""Streams of OpenAI's responses API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deskagent.providers import errors
from deskagent.providers.base import CallDelta, Delta, Stop, TextDelta, ThinkingDelta, Usage
from deskagent.providers.reading import Reader, mapping, number, text
from deskagent.providers.responses import LABEL

_THINKING = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_TEXT = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.done"})
_REASONS = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSED}


class ResponsesReader(Reader):
    """An item is a part; `item.done` says what a server didn't stream."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._came: set[object] = set()
        self._sections: dict[object, object] = {}

    def read(self, data: Mapping[str, Any]) -> list[Delta]:
        kind = text(data.get("type"))
        index = data.get("output_index")
        piece = text(data.get("delta"))
        if kind == "response.output_item.added":
            return self._added(index, mapping(data.get("item")))
        if kind == "response.output_item.done":
            return self._done(index, mapping(data.get("item")))
        if kind in _TEXT:
            if "refusal" in kind:
                self.stop = Stop.REFUSED
            self._came.add(index)
            return [TextDelta(self.part(index), piece)]
        if kind in _THINKING:
            return [self._thinking(index, data.get("summary_index", data.get("content_index")), piece)]
        if kind == "response.function_call_arguments.delta" and self.begun(index):
            self._came.add(index)
            return [CallDelta(self.part(index), arguments=piece)]
        if kind == "response.function_call_arguments.done":
            return self._arguments(index, text(data.get("arguments")))
        if kind in _ENDS:
            return self._end(mapping(data.get("response")))
        if kind == "response.failed":
            response = mapping(data.get("response"))
            raise errors.reported(response.get("error") or {"message": "the answer failed"}, repr(dict(data)))
        if kind == "error":
            raise errors.reported(data, repr(dict(data)))
        return []

    def _added(self, index: Any, item: Mapping[str, Any]) -> list[Delta]:
        if item.get("type") == "function_call":
            arguments = text(item.get("arguments"))
            if arguments:
                self._came.add(index)
            return [self.call(index, text(item.get("call_id")), text(item.get("name")), arguments)]
        if item.get("type") == "reasoning":
            return [ThinkingDelta(self.part(index), "", LABEL)]
        return []

    def _done(self, index: Any, item: Mapping[str, Any]) -> list[Delta]:
        kind = item.get("type")
        if kind == "reasoning":  # the encrypted content of the end is the one that counts
            return [ThinkingDelta(self.part(index), "", LABEL, {"item": dict(item)})]
        if kind == "function_call":
            missed = [] if self.begun(index) else self._added(index, item)
            return [*missed, *self._arguments(index, text(item.get("arguments")))]
        if kind == "message" and index not in self._came:
            parts = (mapping(part) for part in item.get("content") or ())
            whole = "".join(text(part.get("text")) or text(part.get("refusal")) for part in parts)
            return [TextDelta(self.part(index), whole)] if whole else []
        return []

    def _arguments(self, index: Any, whole: str) -> list[Delta]:
        """All of a call's arguments, where none of them came before."""
        if not whole or index in self._came or not self.begun(index):
            return []
        self._came.add(index)
        return [CallDelta(self.part(index), arguments=whole)]

    def _thinking(self, index: Any, section: Any, piece: str) -> Delta:
        """Sections of a summary are set apart by an empty line."""
        gap = "\n\n" if self._sections.get(index, section) != section else ""
        self._sections[index] = section
        return ThinkingDelta(self.part(index), gap + piece, LABEL)

    def _end(self, response: Mapping[str, Any]) -> list[Delta]:
        self.whole = self.done = True
        reason = text(mapping(response.get("incomplete_details")).get("reason"))
        if response.get("status") == "incomplete":
            self.stop = _REASONS.get(reason, Stop.LENGTH)
        usage = mapping(response.get("usage"))
        return [_usage(usage)] if usage else []


def _usage(given: Mapping[str, Any]) -> Usage:
    return Usage(
        number(given.get("input_tokens")),
        number(mapping(given.get("input_tokens_details")).get("cached_tokens")),
        number(given.get("output_tokens")),
        number(mapping(given.get("output_tokens_details")).get("reasoning_tokens")),
    )
