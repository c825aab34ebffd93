"""What a prompt is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
Tier = Literal["low", "high", "max"]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a message; `tokens` rows of the model's input are its own. width, height: its pixels."""

    tokens: int
    width: int
    height: int


Content = str | Sequence[str | Image]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. arguments: name → value, or the text of a JSON object as it was written."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """name: of a user or assistant; of a tool's result the tool, where no call tells it. thinking, calls: an
    assistant's. call_id: the call that a result answers. tools: of a system message that adds tools, which has no
    content then."""

    role: Role
    content: Content = ""
    name: str | None = None
    thinking: str = ""
    calls: Sequence[Call] = ()
    call_id: str | None = None
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation. tier: how much to think, None for not at all. tool_choice: `required`, `none` or free.
    response: `json`, or the JSON schema that the answer has to fit. answer: opens the assistant's next message."""

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    tier: Tier | None = "max"
    tool_choice: Literal["required", "none"] | None = None
    response: Mapping[str, Any] | Literal["json"] | None = None
    answer: bool = True
