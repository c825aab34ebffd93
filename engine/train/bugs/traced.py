"""Examples with what a test says of the bug."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engine.prompt import edits
from engine.prompt.repair import Question
from engine.train.bugs.answer import LARGEST, example
from engine.train.bugs.excerpt import excerpt
from engine.train.bugs.parts import Part
from engine.train.bugs.record import Record
from engine.train.bugs.request import request
from engine.train.corpus.files import Document
from engine.train.example import Example

_ELSEWHERE = 0.15
"""Share of questions whose failure is another function's: nothing to change here."""


def traced(records: Sequence[Record], document: Document, rng: random.Random) -> Example | None:
    """A record at random, whatever the document."""
    if not records:
        return None
    record = rng.choice(records)
    part = Part(record.lines, record.first, record.last)
    if rng.random() < _ELSEWHERE:
        return _elsewhere(records, record, part, rng)
    shown = excerpt(part, record.text, rng)
    answer = edits.between(shown.shown, shown.meant) if shown else []
    if not shown or not answer or len(edits.write(answer)) > LARGEST:
        return None
    asked = request(part.text, rng, failed=True)
    return example(Question(record.path, shown.shown, record.failure, asked), answer, record.thought, rng)


def _elsewhere(records: Sequence[Record], record: Record, part: Part, rng: random.Random) -> Example | None:
    others = [
        other
        for other in rng.sample(records, min(len(records), 40))
        if record.function not in other.failure and other.function not in part.text
    ]
    shown = excerpt(part, part.text, rng)
    if not others or shown is None:
        return None
    other = rng.choice(others)
    asked = request("\n".join(other.lines[other.first : other.last]), rng, failed=True)
    return example(Question(record.path, shown.shown, other.failure, asked), [], "", rng)
