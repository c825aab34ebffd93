"""The choice among real candidates of which one is the mend that somebody made."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from engine.prompt.edits import NONE, write
from engine.prompt.render import Marker, render
from engine.prompt.repair import ask
from engine.train.corpus.files import Document
from engine.train.edits.record import Mend
from engine.train.example import Choice, Piece
from engine.train.make.edited import question


def chosen(mends: Sequence[Mend], _: Document, random: Random) -> Choice:
    """One at random of those that have a choice, whatever the document. To leave everything as it is is one of the
    answers."""
    mend = random.choice(mends)
    asked = question(mend, random)
    answers = [*(write(edits) for edits in mend.answers), NONE]
    return Choice(
        [Piece(segment, False) for segment in render(ask(asked))],
        [[answer, Marker.CLOSE] for answer in answers],
        mend.right,
    )
