"""Deltas back into the parts of an answer, for who records it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deskagent.messages import Call, Text, Thinking
from deskagent.providers.base import (
    CallDelta,
    Delta,
    Retrying,
    Stop,
    Stopped,
    TextDelta,
    ThinkingDelta,
    Usage,
)


@dataclass
class _Part:
    """kind: the delta's type that began it."""

    kind: type
    text: list[str] = field(default_factory=list)
    label: str = ""
    id: str = ""
    name: str = ""
    raw: dict[str, Any] = field(default_factory=dict)

    def made(self) -> Thinking | Text | Call:
        text = "".join(self.text)
        if self.kind is ThinkingDelta:
            return Thinking(text, self.label, self.raw)
        if self.kind is CallDelta:
            return Call(self.id, self.name, text, self.raw)
        return Text(text)


class Gather:
    """usage: as it was told last. stop: CUT until the answer has ended. raw: what the server sent, once it has."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.stop = Stop.CUT
        self.raw = b""
        self._parts: dict[int, _Part] = {}

    def take(self, delta: Delta) -> None:
        match delta:
            case ThinkingDelta(part=number, text=text, label=label, raw=raw):
                part = self._part(number, ThinkingDelta, text)
                part.label = label or part.label
                part.raw.update(raw)
            case TextDelta(part=number, text=text):
                self._part(number, TextDelta, text)
            case CallDelta(part=number, arguments=arguments, raw=raw):
                part = self._part(number, CallDelta, arguments)
                part.id, part.name = delta.id or part.id, delta.name or part.name
                part.raw.update(raw)
            case Usage():
                self.usage = delta
            case Stopped():
                self.stop, self.raw = delta.stop, delta.raw
            case Retrying():
                self._parts.clear()

    def parts(self) -> tuple[Thinking | Text | Call, ...]:
        """All parts as far as they came, in the order they began."""
        return tuple(self._parts[number].made() for number in sorted(self._parts))

    def finished(self) -> bool:
        """Whether the answer came whole."""
        return self.stop is not Stop.CUT

    def _part(self, number: int, kind: type, text: str) -> _Part:
        part = self._parts.setdefault(number, _Part(kind))
        part.text.append(text)
        return part
