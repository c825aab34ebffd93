"""Deltas of an answer that comes token by token, by the reader of the checkpoint's prompt format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from deskagent.providers.base import CallDelta, Delta, Stop, Stopped, TextDelta, ThinkingDelta, Usage
from deskagent.providers.parts import Parts

if TYPE_CHECKING:
    from engine.prompt import Called
    from engine.prompt.events import Event
    from engine.prompt.formats import Reads as Reader

LABEL = "think"
"""Under which the engine's thinking is kept."""
_STOPS = {"length": Stop.LENGTH, "cancelled": Stop.CUT}


class Reads:
    """reader: of the prompt's format. taken: ids of the conversation's calls."""

    def __init__(self, reader: Reader, taken: frozenset[str]) -> None:
        self._reader, self._parts = reader, Parts(taken)
        self._tokens: list[int] = []
        self._thought = 0
        self._called = False
        self._call: int | None = None
        """The part that is a call being written, and what came of its JSON."""
        self._json: list[str] = []

    def take(self, token: int) -> Iterator[Delta]:
        self._tokens.append(token)
        yield from self._told(self._reader.feed(token))

    def end(self, reason: str, prompt: int, cached: int) -> Iterator[Delta]:
        """reason: as `engine.process.wire.End`. prompt, cached: tokens."""
        yield from self._told(self._reader.finish())
        yield Usage(prompt, cached, len(self._tokens), self._thought)
        stop = _STOPS.get(reason, Stop.END)
        raw = json.dumps(self._tokens).encode()
        yield Stopped(Stop.CALLS if self._called and stop is Stop.END else stop, raw)

    def _told(self, events: list[Event]) -> Iterator[Delta]:
        from engine.prompt import Called, Calling, Said

        for event in events:
            if isinstance(event, Said):
                yield self._said(event.kind == "thinking", event.text)
            elif isinstance(event, Calling):
                yield from self._begin(event.name)
                self._json += [event.text] if event.key is None else []
            elif isinstance(event, Called):
                yield from self._whole(event)

    def _said(self, thinking: bool, text: str) -> Delta:
        if not thinking:
            return TextDelta(self._parts.of("text"), text)
        self._thought += 1
        return ThinkingDelta(self._parts.of("thinking"), text, LABEL)

    def _begin(self, name: str) -> Iterator[Delta]:
        if self._call is None:
            self._called = True
            self._call, made = self._parts.call()
            yield CallDelta(self._call, made, name)

    def _whole(self, call: Called) -> Iterator[Delta]:
        """Its arguments at once: formats that write each in a section of its own have no JSON before."""
        yield from self._begin(call.name)
        own = call.id is not None  # formats with ids of their own write one text of JSON
        written = "".join(self._json) if own else json.dumps(call.arguments, ensure_ascii=False)
        if call.error:
            written = f"{written} ({call.error})"  # no JSON, so it isn't done, and the model sees why
        yield CallDelta(self._call or 0, arguments=written, raw={"id": call.id} if own else {})
        self._call, self._json = None, []
