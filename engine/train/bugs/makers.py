"""Makers of repair examples: code with bugs, and code that is right."""

from __future__ import annotations

import random

from engine.prompt import edits
from engine.prompt.repair import Question
from engine.train.bugs import braces, parts
from engine.train.bugs.answer import LARGEST, example
from engine.train.bugs.excerpt import Excerpt, excerpt
from engine.train.bugs.guess import guessable
from engine.train.bugs.parts import Part
from engine.train.bugs.paths import path
from engine.train.bugs.put import Put, put
from engine.train.bugs.request import request
from engine.train.bugs.source import Unit
from engine.train.corpus.files import Document
from engine.train.example import Example

_NUMBERS = (0.85, 0.1, 0.05)
"""Shares of excerpts with one bug, two, three: ranking asks about one edit at a time."""
_TRIES = 10
_SHORTEST = 40
"""Characters of code that is right and worth a question."""
_OTHER = 0.75
"""Share of requests beside code that is right which are about other code of the file."""


def bug(document: Document, rng: random.Random) -> Example | None:
    """Code with one to three bugs → their mends."""
    make = _python if document.language == "python" else _braces
    if document.language not in ("python", *braces.LANGUAGES):
        return None
    for _ in range(_TRIES):
        made = make(document, rng, rng.choices((1, 2, 3), _NUMBERS)[0])
        if made is None:
            continue
        part, kinds, shown = made
        answer = edits.between(shown.shown, shown.meant)
        if answer and len(edits.write(answer)) <= LARGEST and guessable(shown.shown, answer, rng):
            asked = request(part.text, rng, kinds)
            return example(
                Question(path(document.package, document.path, rng), shown.shown, request=asked),
                answer,
                "",
                rng,
            )
    return None


def right(document: Document, rng: random.Random) -> Example | None:
    """Code that is right → nothing to change, whatever is said: mostly it is said of other code."""
    choose = (braces if document.language in braces.LANGUAGES else parts).choose
    for _ in range(_TRIES):
        part = choose(document, rng)
        shown = excerpt(part, part.text, rng) if part else None
        if part is None or shown is None or len(shown.shown) <= _SHORTEST:
            continue
        other = choose(document, rng) if rng.random() < _OTHER else None
        asked = request((other or part).text, rng)
        return example(
            Question(path(document.package, document.path, rng), shown.shown, request=asked), [], "", rng
        )
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


def put_into(document: Document, rng: random.Random, number: int) -> tuple[Part, Put, Excerpt] | None:
    """As `broken`, and what is shown of it."""
    made = broken(document, rng, number)
    if made is None:
        return None
    part, _, done = made
    shown = excerpt(part, done.text, rng)
    return (part, done, shown) if shown else None


Made = tuple[Part, tuple[str, ...], Excerpt]
"""A part, the kinds of bugs put into it, and what is shown of it."""


def _python(document: Document, rng: random.Random, number: int) -> Made | None:
    made = put_into(document, rng, number)
    return (made[0], made[1].kinds, made[2]) if made else None


def _braces(document: Document, rng: random.Random, number: int) -> Made | None:
    part = braces.choose(document, rng)
    done = braces.put(part.text, document.language, rng, number) if part else None
    shown = excerpt(part, done[0], rng) if part and done else None
    return (part, done[1], shown) if part and done and shown else None
