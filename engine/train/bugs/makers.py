"""Makers of repair examples: code with bugs, and code that is right."""

from __future__ import annotations

import random

from engine.prompt import edits
from engine.prompt.repair import Question
from engine.train.bugs import braces, parts
from engine.train.bugs.answer import LARGEST, example
from engine.train.bugs.excerpt import Excerpt, excerpt
from engine.train.bugs.parts import Part
from engine.train.bugs.put import Put, put
from engine.train.bugs.request import request
from engine.train.bugs.source import Unit
from engine.train.corpus.files import Document
from engine.train.example import Example

MOST = 1_900
"""Characters of an excerpt: about 700 tokens."""
_NUMBERS = (0.6, 0.28, 0.12)
"""Shares of excerpts with one bug, two, three: several teach more from the same context."""
_TRIES = 10
_REQUESTED = 0.25
"""Share of questions with words of a user."""


def bug(document: Document, rng: random.Random) -> Example | None:
    """Code with one to three bugs → their mends."""
    make = _python if document.language == "python" else _braces
    if document.language not in ("python", *braces.LANGUAGES):
        return None
    for _ in range(_TRIES):
        made = make(document, rng, rng.choices((1, 2, 3), _NUMBERS)[0])
        if made is None:
            continue
        shown, asked = made
        answer = edits.between(shown.shown, shown.meant)
        if answer and len(edits.write(answer)) <= LARGEST:
            return example(Question(document.path, shown.shown, request=asked), answer, "", rng)
    return None


def right(document: Document, rng: random.Random) -> Example | None:
    """Code that is right → nothing to change."""
    for _ in range(_TRIES):
        part = (braces if document.language in braces.LANGUAGES else parts).choose(document, rng)
        shown = excerpt(part, part.text, rng, MOST) if part else None
        if shown is not None and len(shown.shown) > 40:
            return example(Question(document.path, shown.shown), [], "", rng)
    return None


def broken(document: Document, rng: random.Random, number: int) -> tuple[Part, Unit, Put] | None:
    """A part of a Python file that bugs were put into. None where none could be; another draw may find one."""
    part = parts.choose(document, rng)
    if part is None:
        return None
    try:
        unit = Unit(part.text)
    except ValueError:
        return None
    done = put(unit, rng, number)
    return (part, unit, done) if done else None


def put_into(document: Document, rng: random.Random, number: int) -> tuple[Unit, Put, Excerpt] | None:
    """As `broken`, and what is shown of it."""
    made = broken(document, rng, number)
    if made is None:
        return None
    part, unit, done = made
    shown = excerpt(part, done.text, rng, MOST)
    return (unit, done, shown) if shown else None


def _python(document: Document, rng: random.Random, number: int) -> tuple[Excerpt, str] | None:
    """An excerpt, and what somebody may say of it."""
    made = put_into(document, rng, number)
    if made is None:
        return None
    unit, done, shown = made
    return shown, request(unit, done.kinds, rng) if rng.random() < _REQUESTED else ""


def _braces(document: Document, rng: random.Random, number: int) -> tuple[Excerpt, str] | None:
    part = braces.choose(document, rng)
    done = braces.put(part.text, document.language, rng, number) if part else None
    shown = excerpt(part, done[0], rng, MOST) if part and done else None
    return (shown, "") if shown else None
