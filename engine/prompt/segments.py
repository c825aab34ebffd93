"""What formats render to: markers, which are single token ids, and ordinary text between them."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator

from engine.errors import RequestError
from engine.prompt.messages import Content, Image

PICTURE = "<|kimi_image_placeholder|>"
"""What templates write for a picture; no marker, but text that is replaced."""
Segment = enum.Enum | Image | str
"""Of an enum the value is a marker's name in the vocabulary."""


def text_of(segments: Iterable[Segment]) -> str:
    """Segments as people and other people's templates write them. Never encode this: see `encode`."""
    return "".join(
        PICTURE if isinstance(part, Image) else part if isinstance(part, str) else part.value
        for part in segments
    )


def parts(content: Content) -> Iterator[Segment]:
    if isinstance(content, str):
        yield content
    else:
        yield from content


def joined(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Texts that follow each other become one: cut otherwise they would be other tokens."""
    text = ""
    for segment in segments:
        if isinstance(segment, str):
            text += segment
            continue
        if text:
            yield text
            text = ""
        yield segment
    if text:
        yield text


def json_of(value: object, *, compact: bool = False) -> str:
    """Errors: RequestError for what is no JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else None)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"no JSON can be made of a tool's argument: {error}") from error
