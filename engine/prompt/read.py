"""Answers in the tagged format back by token id: thinking, text and tool calls, as they come. Text that looks like a
marker stays text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from engine.prompt.events import Called, Calling, Ended, Event, Said, parsed
from engine.prompt.render import Marker
from engine.tokenizer import Characters, Tokenizer

_LARGEST_TAG = 16 << 10
"""Bytes; what is longer is no tag that a model meant."""
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


@dataclass(slots=True)
class _Argument:
    key: str | None
    type: str
    text: str = ""


@dataclass(slots=True)
class _Call:
    index: int
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    argument: _Argument | None = None


class Reader:
    """Reads one answer behind a prompt that opened its first section."""

    def __init__(self, tokenizer: Tokenizer, *, thinks: bool) -> None:
        """thinks: the prompt has a tier, so the answer begins with thinking. Errors: RequestError where the vocabulary
        lacks a marker."""
        self._tokenizer = tokenizer
        self._open, self._close, self._sep, self._end = (
            tokenizer.marker(marker.value) for marker in (Marker.OPEN, Marker.CLOSE, Marker.SEP, Marker.END)
        )
        self._thinking = thinks
        self._characters = Characters()
        self._tag: tuple[int, bytearray] | None = None
        self._call: _Call | None = None
        self._calls = 0
        self.ended = False

    def feed(self, token: int) -> list[Event]:
        """What the answer's next token tells; nothing after its end."""
        if self.ended:
            return []
        if token == self._end:
            return self._finish(whole=True)
        if token in (self._open, self._close):
            events = self._text(self._characters.rest())
            self._tag = (token, bytearray())
            return events
        if token == self._sep:
            tag, self._tag = self._tag, None
            return (
                [] if tag is None else self._tagged(tag[0] == self._open, tag[1].decode("utf-8", "replace"))
            )
        raw = self._tokenizer.token_bytes(token)
        if self._tag is None:
            return self._text(self._characters.feed(raw))
        self._tag[1].extend(raw)
        if len(self._tag[1]) <= _LARGEST_TAG:
            return []
        text, self._tag = self._tag[1], None
        return self._text(self._characters.feed(bytes(text)))

    def finish(self) -> list[Event]:
        """The end of an answer that stopped without closing its message: all that came, and a call that was not
        finished with an error."""
        return [] if self.ended else self._finish(whole=False)

    def _finish(self, whole: bool) -> list[Event]:
        self.ended = True
        events = self._text(self._characters.rest())
        if self._call is not None:
            self._call.error = self._call.error or "it was cut off"
            events += self._called()
        return [*events, Ended(whole)]

    def _tagged(self, opens: bool, tag: str) -> list[Event]:
        name = tag.split(" ", 1)[0].strip()
        found = {key: _unescaped(value) for key, value in _ATTRIBUTE.findall(tag)}
        if not opens:
            return self._closed(name)
        if name in ("argument", "json") and self._call is not None:
            events = self._argued()
            key = found.get("key", "") if name == "argument" else None
            self._call.argument = _Argument(key, found.get("type", "string"))
            return events
        events = self._called()
        self._thinking = name == "think"
        if name == "call":
            self._calls += 1
            index = found.get("index", "")
            number = int(index) if index.isascii() and index.isdigit() and len(index) < 6 else self._calls
            self._call = _Call(number, found.get("tool", ""))
            if not self._call.name:
                self._call.error = "it names no tool"
            events.append(Calling(number, self._call.name))
        return events

    def _closed(self, name: str) -> list[Event]:
        if name in ("argument", "json"):
            return self._argued()
        if name in ("call", "tools", "message"):
            return self._called()
        self._thinking = False
        return []

    def _text(self, text: str) -> list[Event]:
        if not text:
            return []
        if self._call is None:
            return [Said("thinking" if self._thinking else "text", text)]
        argument = self._call.argument
        if argument is None:
            return []  # between a call's arguments there is nothing to say
        argument.text += text
        return [Calling(self._call.index, self._call.name, argument.key, text)]

    def _argued(self) -> list[Event]:
        """The end of an argument, if one was open."""
        call = self._call
        if call is None or call.argument is None:
            return []
        argument, call.argument = call.argument, None
        where = "its JSON" if argument.key is None else f"argument {argument.key}"
        try:
            value = argument.text if argument.type == "string" else parsed(argument.text)
        except (ValueError, RecursionError) as error:
            call.error = call.error or f"{where} is no JSON: {error}"
            return []
        if argument.key is not None:
            if argument.key in call.arguments:
                call.error = call.error or f"{where} stands there twice"
            call.arguments[argument.key] = value
        elif isinstance(value, dict):
            call.arguments.update(value)
        else:
            call.error = call.error or f"{where} is no object"
        return []

    def _called(self) -> list[Event]:
        """The end of a call, if one was open."""
        if self._call is None:
            return []
        if self._call.argument is not None:
            self._call.error = self._call.error or "an argument was not closed"
            self._argued()
        call, self._call = self._call, None
        return [Called(call.index, call.name, call.arguments, call.error)]


def _unescaped(value: str) -> str:
    return value.replace("&quot;", '"').replace("&amp;", "&")
