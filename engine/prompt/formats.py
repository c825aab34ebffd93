"""Prompt formats, told apart by the markers that a checkpoint's vocabulary has."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.errors import RequestError
from engine.prompt.events import Event
from engine.prompt.messages import Prompt
from engine.prompt.read import Reader
from engine.prompt.render import TIERS, Marker, render, thinking_end, thinking_start
from engine.prompt.segments import Segment
from engine.prompt.turns import Turn
from engine.prompt.turns import render as render_turns
from engine.prompt.turns_read import TurnReader
from engine.tokenizer import Tokenizer


class Reads(Protocol):
    """Reads one answer token by token."""

    ended: bool

    def feed(self, token: int) -> list[Event]: ...

    def finish(self) -> list[Event]: ...


@dataclass(frozen=True, slots=True)
class Format:
    """markers: that a vocabulary has to have. tiers: of thinking; none: it doesn't think. reader: of the answer to a
    prompt. text_end: the marker that a model writes first behind an answer's text. end: the one that closes its
    message. thinking_start: what begins the thinking. thinking_end: what ends it and begins the response, where a cap
    has to. chooses: it has words for `tool_choice` and `response`."""

    name: str
    markers: Sequence[enum.Enum]
    tiers: tuple[str, ...]
    render: Callable[[Prompt], list[Segment]]
    reader: Callable[[Tokenizer, Prompt], Reads]
    text_end: enum.Enum
    end: enum.Enum
    thinking_start: tuple[Segment, ...] = ()
    thinking_end: tuple[Segment, ...] = ()
    chooses: bool = False


FORMATS = (
    Format(
        "tagged",
        (Marker.OPEN, Marker.CLOSE, Marker.SEP, Marker.END),
        TIERS,
        render,
        lambda tokenizer, prompt: Reader(tokenizer, thinks=prompt.tier is not None),
        Marker.CLOSE,
        Marker.END,
        tuple(thinking_start()),
        tuple(thinking_end()),
        chooses=True,
    ),
    Format(
        "turns", tuple(Turn), (), render_turns, lambda tokenizer, _: TurnReader(tokenizer), Turn.END, Turn.END
    ),
)
"""Kimi K3's and ours; Kimi-Linear's."""


def format_of(tokenizer: Tokenizer) -> Format:
    """The first format whose markers the vocabulary has. Errors: RequestError for none."""
    for known in FORMATS:
        if all(tokenizer.has(marker.value) for marker in known.markers):
            return known
    raise RequestError(
        "the vocabulary has the markers of no known prompt format: this checkpoint takes token ids alone"
    )
