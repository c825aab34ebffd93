"""What a maker of examples gives: segments of a prompt, each to be learnt or only read."""

from __future__ import annotations

from dataclasses import dataclass

from engine.prompt.render import Segment


@dataclass(frozen=True, slots=True)
class Piece:
    """learn: whether the model is to predict the segment's tokens; the others are context."""

    segment: Segment
    learn: bool


Example = list[Piece]


@dataclass(frozen=True, slots=True)
class Choice:
    """A question, and answers to it of which the one at `right` is learnt, against the others."""

    question: Example
    answers: list[list[Segment]]
    right: int
