"""The choice among real candidates: which of them mends the bug, or whether the code is right as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from engine.errors import CheckpointError
from engine.prompt.edits import NONE, apply, write
from engine.prompt.render import Marker, render
from engine.prompt.repair import Question, ask
from engine.train import choices
from engine.train.bugs.paths import path
from engine.train.bugs.request import request
from engine.train.choices import Group
from engine.train.corpus.files import Document
from engine.train.example import Choice, Piece

Drawn = Sequence[tuple[Group, Document]]


def contrast(groups: Drawn, _: Document, random: Random) -> Choice:
    """A group at random, whatever the document. To leave everything as it is is one of the answers."""
    group, document = random.choice(groups)
    meant = "\n".join(document.text.split("\n")[group.first : group.last])
    excerpt = apply(group.mutation, meant)
    asked = request(excerpt, random)
    question = Question(path(document.package, document.path, random), excerpt, request=asked)
    answers = [*(write(edits) for edits in group.answers), NONE]
    return Choice(
        [Piece(segment, False) for segment in render(ask(question))],
        [[answer, Marker.CLOSE] for answer in answers],
        group.right if group.right >= 0 else len(group.answers),
    )


def drawn(file: Path, documents: Sequence[Document]) -> Drawn:
    """The groups of a file whose documents are there. Errors: CheckpointError where there are none."""
    known: Mapping[tuple[str, str], Document] = {(each.package, each.path): each for each in documents}
    found = [
        (group, known[group.package, group.path])
        for group in choices.read(file)
        if (group.package, group.path) in known
    ]
    if not found:
        raise CheckpointError(f"{file}: no group is of a document beside it; make them by bench/contrast.py")
    return found
