"""Pictures of running prompts: embedded when their first chunk comes, kept while chunks of them are left."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from engine.generate.sequence import Sequence
from engine.model import Model
from engine.vision.picture import Picture

TOKENS = 4096
"""Of the pictures that one pass of the encoder takes, unless a single one has more."""


def look(model: Model, spans: Iterable[tuple[Sequence, int, int]]) -> None:
    """Embeds the pictures that lie in spans (sequence, first token, last token + 1), and forgets those before. What
    several prompts show is embedded once, several pictures in one pass."""
    missing: list[tuple[Sequence, int, Picture]] = []
    for sequence, first, last in spans:
        for row, picture in sequence.pictures:
            if row + picture.tokens <= first:
                sequence.seen.pop(row, None)
            elif row < last and row not in sequence.seen:
                missing.append((sequence, row, picture))
    found = _embedded(model, {picture.digest: picture for _, _, picture in missing})
    for sequence, row, picture in missing:
        sequence.seen[row] = found[picture.digest]


def _embedded(model: Model, pictures: dict[bytes, Picture]) -> dict[bytes, Tensor]:
    found: dict[bytes, Tensor] = {}
    group: list[Picture] = []
    for picture in pictures.values():
        if group and sum(one.tokens for one in [*group, picture]) > TOKENS:
            found |= _pass(model, group)
            group = []
        group.append(picture)
    return found | _pass(model, group) if group else found


def _pass(model: Model, group: list[Picture]) -> dict[bytes, Tensor]:
    embedded = model.see([picture.canvas for picture in group])
    return {picture.digest: rows for picture, rows in zip(group, embedded, strict=True)}
