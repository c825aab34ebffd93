"""Streams of OpenAI's chat completions, and of the servers that follow it more or less."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskagent.providers import errors
from deskagent.providers.base import CallDelta, Delta, Stop, TextDelta, ThinkingDelta, Usage
from deskagent.providers.chat import DETAILS
from deskagent.providers.dialects import Dialect
from deskagent.providers.reading import Reader, mapping, number, own_id, text
from deskagent.providers.thinktags import ThinkTags

_STOPS = {
    "stop": Stop.END,
    "tool_calls": Stop.CALLS,
    "function_call": Stop.CALLS,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "content_filter": Stop.REFUSED,
    "refusal": Stop.REFUSED,
}
_FAILURES = frozenset({"error", "abort", "insufficient_system_resource", "network_error"})


@dataclass
class _Call:
    """A call under way. key: of its part. given: the server's id. held: arguments that came before its name."""

    key: object
    given: str = ""
    begun: bool = False
    held: str = ""


class ChatReader(Reader):
    def __init__(
        self, dialect: Dialect, taken: frozenset[str] = frozenset(), new_id: Callable[[], str] = own_id
    ) -> None:
        super().__init__(dialect, taken, new_id)
        self._label, self._sure = "", False
        self._tags = ThinkTags(*dialect.think_tags) if dialect.think_tags else None
        self._calls: list[_Call] = []
        self._current: dict[object, _Call] = {}
        self._details: list[dict[str, Any]] = []

    def read(self, data: Mapping[str, Any]) -> list[Delta]:
        found: list[Delta] = []
        choices = data.get("choices")
        choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
        delta = mapping(choice.get("delta")) or ({} if self._parts else mapping(choice.get("message")))
        found += self._thinking(delta)
        found += self._text(delta.get("content"))
        if refusal := text(delta.get("refusal")):
            self.stop = Stop.REFUSED
            found.append(TextDelta(self.part("text"), refusal))
        for call in delta.get("tool_calls") or ():
            found += self._call(mapping(call))
        if usage := mapping(data.get("usage")) or mapping(choice.get("usage")):
            found.append(_usage(usage))
        if reason := text(choice.get("finish_reason")):
            if reason in _FAILURES:
                raise errors.reported(
                    {"type": reason, "message": f"the answer ended in {reason}"}, json.dumps(data)
                )
            self.whole = True
            if self.stop is not Stop.REFUSED:
                self.stop = _STOPS.get(reason, Stop.END)
        return found

    def rest(self) -> list[Delta]:
        found = list(self._split(self._tags.rest())) if self._tags else []
        for call in self._calls:
            if not call.begun:
                found.append(self.call(call.key, call.given, "", call.held))
        if self._details:
            found.append(ThinkingDelta(self.part("thinking"), "", self._label, {DETAILS: self._details}))
        return found

    def _thinking(self, delta: Mapping[str, Any]) -> Iterator[Delta]:
        names = (*self.dialect.thinking, "reasoning_content", "reasoning")
        for entry in delta.get(DETAILS) or ():
            self._detail(mapping(entry))
        if not self._sure:  # some servers send the same under two names, or an empty one first
            full = next((name for name in names if text(delta.get(name))), "")
            empty = next((name for name in names if delta.get(name) == ""), "")
            self._label, self._sure = full or self._label or empty, bool(full)
        if not self._label and self._details:
            self._label = names[0]
        if not self._label:
            return
        piece = text(delta.get(self._label))
        if piece or not self.begun("thinking"):
            yield ThinkingDelta(self.part("thinking"), piece, self._label)

    def _detail(self, entry: Mapping[str, Any]) -> None:
        """Pieces of one detail are joined; the whole of them goes back."""
        last = self._details[-1] if self._details else {}
        if not all(last.get(key) == entry.get(key) for key in ("type", "index")) or not last:
            self._details.append(dict(entry))
            return
        for key, value in entry.items():
            joined = (
                key in ("text", "summary", "data")
                and isinstance(last.get(key), str)
                and isinstance(value, str)
            )
            if joined or value is not None:
                last[key] = last[key] + value if joined else value

    def _text(self, given: Any) -> Iterator[Delta]:
        if isinstance(given, list):  # some servers send parts
            given = "".join(text(mapping(part).get("text")) for part in given)
        if not (piece := text(given)):
            return
        if self._tags is None:
            yield TextDelta(self.part("text"), piece)
        else:
            yield from self._split(self._tags.feed(piece))

    def _split(self, pieces: Iterator[tuple[bool, str]]) -> Iterator[Delta]:
        for thinking, piece in pieces:
            if thinking:
                yield ThinkingDelta(self.part("tagged"), piece, (self.dialect.think_tags or ("",))[0])
            else:
                yield TextDelta(self.part("text"), piece)

    def _call(self, given: Mapping[str, Any]) -> Iterator[CallDelta]:
        function = mapping(given.get("function"))
        name, server = text(function.get("name")), text(given.get("id"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        arguments = text(arguments)
        call = self._which(given.get("index"), server, name)
        if call.begun:
            if arguments:
                yield CallDelta(self.part(call.key), arguments=arguments)
            return
        call.given = call.given or server
        call.held += arguments
        if name:
            call.begun = True
            yield self.call(call.key, call.given, name, call.held)

    def _which(self, index: Any, server: str, name: str) -> _Call:
        """The call that a delta is of: by its index; some servers count none, or give all the same."""
        call = self._current.get(index)
        other = (
            call
            and name
            and (server != call.given if server and call.given else index is None and call.begun)
        )
        if call is None or other:
            call = _Call(("call", len(self._calls)), server)
            self._calls.append(call)
            self._current[index] = call
        return call


def _usage(given: Mapping[str, Any]) -> Usage:
    prompt = mapping(given.get("prompt_tokens_details"))
    output = mapping(given.get("completion_tokens_details"))
    cost = given.get("cost")
    return Usage(
        number(given.get("prompt_tokens")),
        number(
            prompt.get("cached_tokens") or given.get("cached_tokens") or given.get("prompt_cache_hit_tokens")
        ),
        number(given.get("completion_tokens")),
        number(output.get("reasoning_tokens") or given.get("reasoning_tokens")),
        float(cost) if isinstance(cost, int | float) else None,
    )
