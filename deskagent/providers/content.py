"""The contents of messages that every API shares: texts that are never empty, and pictures, or honest words in place of
one that can't be sent."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass

from deskagent.errors import DeskagentError
from deskagent.messages import Answer, Author, Image, Part, Result, Said, Text, Turn
from deskagent.providers.base import Ask
from deskagent.providers.endpoint import Endpoint

NO_WORDS = "(nothing)"
NO_OUTPUT = "(no output)"
NO_ANSWER = "(The answer ended before a word of it was written.)"
_GO_ON = Said((Text("(Go on.)"),))
_BEGIN = Said((Text("(The conversation begins here.)"),))


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that goes out. data: base64."""

    media: str
    data: str

    @property
    def url(self) -> str:
        return f"data:{self.media};base64,{self.data}"


def alternating(turns: Iterable[Turn]) -> list[Turn]:
    """`turns` with a word before each answer that would otherwise come first or right after another, and one at the
    end: servers want to be spoken to. An answer's results are such a word."""
    found: list[Turn] = []
    for turn in (*turns, None):
        silent = not found or (isinstance(found[-1], Answer) and not found[-1].used)
        if silent and not isinstance(turn, Said):
            found.append(_GO_ON if found else _BEGIN)
        if turn is not None:
            found.append(turn)
    return found


def said(turn: Said, ask: Ask, endpoint: Endpoint) -> list[str | Picture]:
    """What somebody said, at least one piece. Our own words are marked as no person's."""
    found = _pieces(turn.parts, ask, endpoint) or [NO_WORDS]
    if turn.author is Author.DESKAGENT:
        return [f"<note>\n{piece}\n</note>" if isinstance(piece, str) else piece for piece in found]
    return found


def result(result: Result, ask: Ask, endpoint: Endpoint) -> list[str | Picture]:
    """What a tool gave, at least one piece."""
    return _pieces(result.content, ask, endpoint) or [NO_OUTPUT]


def words(pieces: Iterable[str | Picture]) -> str:
    """The texts among `pieces`."""
    return "\n\n".join(piece for piece in pieces if isinstance(piece, str))


def _pieces(parts: Iterable[Part], ask: Ask, endpoint: Endpoint) -> list[str | Picture]:
    found = (part.text if isinstance(part, Text) else _picture(part, ask, endpoint) for part in parts)
    return [piece for piece in found if not isinstance(piece, str) or piece.strip()]


def _picture(image: Image, ask: Ask, endpoint: Endpoint) -> str | Picture:
    told = f"{image.origin or 'a picture'}, {image.media}, {image.width} × {image.height} pixels"
    if not endpoint.capabilities.images:
        return f"[A picture is here that you can't see: {told}.]"
    try:
        data = ask.blob(image.blob)
    except (DeskagentError, OSError, KeyError):
        data = b""
    if not data:
        return f"[A picture was here that is lost: {told}.]"
    return Picture(image.media, base64.b64encode(data).decode("ascii"))
