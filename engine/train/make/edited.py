"""Mends that people made: the code as it was in one release → how the next one has it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from engine.prompt.repair import Question
from engine.train.bugs.answer import example
from engine.train.bugs.guess import guessable
from engine.train.bugs.paths import path
from engine.train.bugs.request import request
from engine.train.corpus.files import Document
from engine.train.edits.record import Mend
from engine.train.example import Example


def edited(mends: Sequence[Mend], _: Document, random: Random) -> Example | None:
    """One at random, whatever the document: asked for and answered as a bug that was put in is."""
    mend = random.choice(mends)
    if not guessable(mend.shown, mend.edits, random):
        return None
    return example(question(mend, random), mend.edits, "", random)


def question(mend: Mend, random: Random) -> Question:
    """What is asked about the excerpt as it was before the mend."""
    asked = request(_headed(mend), random)
    return Question(path(mend.package, mend.path, random), mend.shown, request=asked)


def _headed(mend: Mend) -> str:
    """The excerpt; of one from within a function with the function's name before."""
    name = mend.name.rpartition(".")[2]
    return mend.shown if f"def {name}" in mend.shown else f"def {name}(\n{mend.shown}"
