"""A conversation as models are given it: what was said, and answers whose tool calls each hold their result.

A call and its result are one object, so no conversation can hold a call without a result, or a result without its
call; what is missing is an honest result that says so. These are plain data: session files keep them, providers send
them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Text(msgspec.Struct, frozen=True, tag="text"):
    text: str


class Image(msgspec.Struct, frozen=True, tag="image"):
    """A picture, as it is sent. blob: its name among the session's blobs. media: its MIME type. width, height: in
    pixels. origin: where it came from, for people. original: the blob of the file as it was, "" where it isn't kept;
    that is never sent."""

    blob: str
    media: str
    width: int
    height: int
    origin: str = ""
    original: str = ""


Part = Text | Image


class Thinking(msgspec.Struct, frozen=True, tag="thinking"):
    """label: the name under which the server sent it, and wants it back: `reasoning_content`, `reasoning`, `thinking`,
    …. It is kept also where the text is empty. raw: what else the server sent with it and has to be given back
    unchanged, such as a signature or encrypted content."""

    text: str
    label: str = ""
    raw: dict[str, Any] = {}


class Call(msgspec.Struct, frozen=True, tag="call"):
    """A model's wish to use a tool. id: unique in the session. arguments: the text that the model wrote, JSON or not.
    raw: as in Thinking; the id that the server gave stands there as `id` where it isn't ours."""

    id: str
    name: str
    arguments: str
    raw: dict[str, Any] = {}


class Outcome(StrEnum):
    """How a call ended. UNKNOWN: it had begun, and nobody saw the end; it isn't done again unasked."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Result(msgspec.Struct, frozen=True):
    """What the model is told of a call's end."""

    outcome: Outcome
    content: tuple[Part, ...]

    @classmethod
    def of(cls, text: str, outcome: Outcome = Outcome.DONE) -> Result:
        return cls(outcome, (Text(text),))


class Used(msgspec.Struct, frozen=True, tag="used"):
    """A call with its result."""

    call: Call
    result: Result


class Author(StrEnum):
    """Who said something that isn't a model's answer. DESKAGENT: a summary, a reminder, new diagnostics."""

    PERSON = "person"
    DESKAGENT = "deskagent"


class Said(msgspec.Struct, frozen=True, tag="said"):
    parts: tuple[Part, ...]
    author: Author = Author.PERSON


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """A model's turn, in the order it came. model: `provider/model` that wrote it, since thinking goes back to its own
    author alone. stop: why it ended (see `providers.base.Stop`), `cut` where it was cancelled or the stream broke."""

    parts: tuple[Thinking | Text | Used, ...]
    model: str = ""
    stop: str = ""

    @property
    def used(self) -> tuple[Used, ...]:
        return tuple(part for part in self.parts if isinstance(part, Used))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


Turn = Said | Answer
