"""What a model is asked, what it can do, and how its answer comes: the one interface of all providers.

Who asks looks at capabilities, never at names of models.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from deskagent.errors import DeskagentError
from deskagent.messages import Turn


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens: of a prompt, of those that were in the server's cache (0: as the others), of an
    answer, thinking included."""

    prompt: float = 0.0
    cached: float = 0.0
    output: float = 0.0

    def of(self, usage: Usage) -> float:
        """What that costs: as the server says, else by these prices."""
        if usage.cost is not None:
            return usage.cost
        read = (usage.prompt - usage.cached) * self.prompt + usage.cached * (self.cached or self.prompt)
        return (read + usage.output * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Capabilities:
    """context: tokens of prompt and answer together. output: tokens of an answer at most, 0 where nothing is known.
    tools: it writes tool calls. images: it sees pictures. tiers: thinking tiers that it tells apart, the least first;
    empty where it doesn't think. grammar: an answer can be held to a JSON schema. edits: the form in which it changes
    files best, see `EDITS`. price: what it costs."""

    context: int
    output: int = 0
    tools: bool = True
    images: bool = False
    tiers: tuple[str, ...] = ()
    grammar: bool = False
    edits: str = "exact"
    price: Price = Price()


EDITS = ("exact", "patch", "whole")
"""Forms of changing a file: a piece that stands there is replaced; a patch is put in; it is written as a whole."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model is told of it. parameters: a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Choice(StrEnum):
    """Whether an answer may, must or must not use tools."""

    AUTO = "auto"
    REQUIRED = "required"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. The first three fields are the prefix that has to stay the same byte for byte from ask to ask, so
    that a server finds it in its cache.

    tier: `low`, `high` or `max`. most: tokens of the answer, thinking included; None leaves it to the provider. schema:
    of the JSON that the answer's text has to be. blob: the bytes of a picture by its name. session: a name that is the
    same for all asks of a conversation, for servers that route by it.
    """

    system: str
    tools: tuple[Tool, ...]
    turns: tuple[Turn, ...]
    tier: str = "high"
    choice: Choice = Choice.AUTO
    most: int | None = None
    schema: Mapping[str, Any] | None = None
    blob: Callable[[str], bytes] = lambda name: b""
    session: str = ""


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of thinking. part: which of the answer's parts, from 0, counted over all kinds in the order they begin.
    label: see messages.Thinking. raw: merged into the part's."""

    part: int
    text: str
    label: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextDelta:
    part: int
    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a call. id and name come whole, once; arguments in pieces."""

    part: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counts them, so far; a later one replaces an earlier one. prompt: all of it, `cached` of
    them included. output: all of it, `thinking` of them included. cost: US dollars, None where nobody says."""

    prompt: int = 0
    cached: int = 0
    output: int = 0
    thinking: int = 0
    cost: float | None = None


class Stop(StrEnum):
    """Why an answer ended. LENGTH: `most` or the context was reached."""

    END = "end"
    CALLS = "calls"
    LENGTH = "length"
    REFUSED = "refused"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The last delta of an answer that came whole. raw: the answer as the server sent it, bytes joined."""

    stop: Stop
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Retrying:
    """The server was busy or the stream broke before anything of it was used: it is asked again after `seconds`. What
    came before is void."""

    why: str
    seconds: float


Delta = ThinkingDelta | TextDelta | CallDelta | Usage | Stopped | Retrying


class Trouble(StrEnum):
    """What kind of failure a provider's is: what can be done about it differs."""

    AUTH = "auth"
    BUSY = "busy"
    NETWORK = "network"
    CONTEXT = "context"
    BAD_REQUEST = "bad_request"
    NO_MODEL = "no_model"
    BROKEN = "broken"


class ProviderError(DeskagentError):
    """An ask that failed for good. raw: what the server said."""

    def __init__(self, trouble: Trouble, message: str, *, hint: str = "", raw: bytes = b"") -> None:
        super().__init__(message, hint=hint)
        self.trouble, self.raw = trouble, raw


class Provider(Protocol):
    """A model that answers."""

    @property
    def name(self) -> str:
        """`provider/model`, as the person names it."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    def stream(self, ask: Ask) -> AsyncGenerator[Delta, None]:
        """The answer as it comes. It is an asynchronous generator: closing it, or cancelling who iterates, ends the
        request and frees what the server holds for it. Errors: ProviderError."""
        ...

    async def close(self) -> None:
        """Lets connections go."""
        ...
