"""Segments to token ids, each by itself: whatever a text says, it is no marker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.prompt.messages import Image
from engine.prompt.render import Marker
from engine.prompt.segments import Segment
from engine.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Encoded:
    """images: the rows at which the images' own tokens begin, in their order."""

    tokens: list[int]
    images: tuple[int, ...]


def encode(segments: Iterable[Segment], tokenizer: Tokenizer) -> Encoded:
    """Errors: RequestError where the vocabulary lacks a marker."""
    tokens: list[int] = []
    images: list[int] = []
    for segment in segments:
        if isinstance(segment, str):
            tokens += tokenizer.encode(segment)
        elif isinstance(segment, Image):
            tokens.append(tokenizer.marker(Marker.MEDIA_BEGIN.value))
            tokens += tokenizer.encode(f"image {segment.width}x{segment.height}")
            tokens.append(tokenizer.marker(Marker.MEDIA_CONTENT.value))
            images.append(len(tokens))
            tokens += [tokenizer.marker(Marker.MEDIA_PAD.value)] * segment.tokens
            tokens.append(tokenizer.marker(Marker.MEDIA_END.value))
        else:
            tokens.append(tokenizer.marker(segment.value))
    return Encoded(tokens, tuple(images))
