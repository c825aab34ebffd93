"""Answers in the format of `turns` back by token id: text and tool calls, as they come. Text that looks like a marker
stays text."""

from __future__ import annotations

from dataclasses import dataclass

from engine.prompt.events import Called, Calling, Ended, Event, Said, parsed
from engine.prompt.turns import Turn, tool_of
from engine.tokenizer import Characters, Tokenizer

_LARGEST_ID = 4 << 10
"""Bytes; what is longer is no id that a model meant."""
_OWN = (Turn.END, Turn.CALLS, Turn.CALLS_END, Turn.CALL, Turn.ARGUMENTS, Turn.CALL_END)


@dataclass(slots=True)
class _Call:
    """arguments: None before they begin; then `id` and `name` are known."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str | None = None


class TurnReader:
    """Reads one answer behind a prompt that opened the assistant's message."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Errors: RequestError where the vocabulary lacks a marker."""
        self._tokenizer = tokenizer
        self._markers = {tokenizer.marker(marker.value): marker for marker in _OWN}
        self._characters = Characters()
        self._call: _Call | None = None
        self._among_calls = False
        self._calls = 0
        self.ended = False

    def feed(self, token: int) -> list[Event]:
        """What the answer's next token tells; nothing after its end."""
        if self.ended:
            return []
        marker = self._markers.get(token)
        if marker is None:
            return self._text(self._characters.feed(self._tokenizer.token_bytes(token)))
        events = self._text(self._characters.rest())
        if marker is Turn.END:
            return [*events, *self._finish(whole=True)]
        if marker is Turn.ARGUMENTS:
            return [*events, *self._named()]
        events += self._called("" if marker is Turn.CALL_END else "it was not closed")
        self._among_calls = marker is not Turn.CALLS_END
        if marker is Turn.CALL:
            self._calls += 1
            self._call = _Call(self._calls)
        return events

    def finish(self) -> list[Event]:
        """The end of an answer that stopped without closing its message: all that came, and a call that was not
        finished with an error."""
        return [] if self.ended else [*self._text(self._characters.rest()), *self._finish(whole=False)]

    def _finish(self, whole: bool) -> list[Event]:
        self.ended = True
        return [*self._called("it was cut off"), Ended(whole)]

    def _text(self, text: str) -> list[Event]:
        call = self._call
        if not text:
            return []
        if call is None:
            # between calls there is nothing to say
            return [] if self._among_calls else [Said("text", text)]
        if call.arguments is not None:
            call.arguments += text
            return [Calling(call.index, call.name, None, text)]
        call.id += text
        if len(call.id) <= _LARGEST_ID:
            return []
        self._call, self._among_calls = None, False
        return [Said("text", call.id)]

    def _named(self) -> list[Event]:
        """The end of a call's id, if one was open."""
        call = self._call
        if call is None or call.arguments is not None:
            return []
        call.id = call.id.strip()
        call.name, call.arguments = tool_of(call.id) or _loosely(call.id), ""
        return [Calling(call.index, call.name)]

    def _called(self, error: str) -> list[Event]:
        """The end of a call, if one was open."""
        if self._call is None:
            return []
        unnamed = self._named()
        if unnamed:
            error = error or "it has no arguments"
        call, self._call = self._call, None
        text, arguments = call.arguments or "", {}
        try:
            value = parsed(text) if text.strip() else {}
            arguments = value if isinstance(value, dict) else {}
            wrong = "" if isinstance(value, dict) else "its JSON is no object"
        except (ValueError, RecursionError) as problem:
            wrong = f"its JSON is no JSON: {problem}"
        error = error or ("" if call.name else "it names no tool") or wrong
        return [*unnamed, Called(call.index, call.name, arguments, error, call.id or None)]


def _loosely(id: str) -> str:
    """The tool, where the model left out the number or what stands before the name."""
    name = id.removeprefix("functions.")
    head, colon, number = name.rpartition(":")
    return head if colon and number.isdecimal() else name
