"""Examples with what a test says of the bug."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engine.prompt import edits
from engine.prompt.repair import Question
from engine.train.bugs.answer import LARGEST, example
from engine.train.bugs.excerpt import excerpt
from engine.train.bugs.parts import Part
from engine.train.bugs.paths import path
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
    part = part_of(record)
    if rng.random() < _ELSEWHERE:
        return _elsewhere(records, record, part, rng)
    shown = excerpt(part, record.bug.put(part.text), rng)
    answer = edits.between(shown.shown, shown.meant) if shown else []
    if not shown or not answer or len(edits.write(answer)) > LARGEST:
        return None
    asked = request(part.text, rng, failed=True)
    file = path(record.document.package, record.document.path, rng)
    question = Question(file, shown.shown, record.bug.failure, asked)
    return example(question, answer, record.bug.thinking, rng)


def part_of(record: Record) -> Part:
    lines = record.document.text.split("\n")
    return Part(lines, record.function.first, record.function.last)


def _elsewhere(records: Sequence[Record], record: Record, part: Part, rng: random.Random) -> Example | None:
    others = [
        other
        for other in rng.sample(records, min(len(records), 40))
        if record.function.name not in other.bug.failure and other.function.name not in part.text
    ]
    shown = excerpt(part, part.text, rng)
    if not others or shown is None:
        return None
    other = rng.choice(others)
    asked = request(part_of(other).text, rng, failed=True)
    file = path(record.document.package, record.document.path, rng)
    question = Question(file, shown.shown, other.bug.failure, asked)
    return example(question, [], "", rng)
