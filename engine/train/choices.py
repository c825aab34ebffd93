"""Groups of real candidates of which one mends a bug, as a file beside the shards: xz-compressed lines of JSON.

A group names lines of a document, what a bug makes of them, and edits of that. Its excerpt is made when it is used.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from engine.errors import CheckpointError
from engine.prompt.edits import Edit

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


@dataclass(frozen=True, slots=True)
class Group:
    """package, path: of the document. first, last: lines [first, last) of it, from 0. mutation: what puts the bug into
    them. answers: edits of the excerpt with the bug, the likeliest by hand-made priors first. right: the number of the
    one that mends it; −1 where nothing has to change."""

    package: str
    path: str
    first: int
    last: int
    mutation: tuple[Edit, ...]
    answers: tuple[tuple[Edit, ...], ...]
    right: int


def line(group: Group) -> str:
    return json.dumps(astuple(group), ensure_ascii=False, separators=(",", ":")) + "\n"


def parsed(text: str) -> Iterator[Group]:
    for each in filter(None, text.split("\n")):
        package, path, first, last, mutation, answers, right = json.loads(each)
        if not -1 <= right < len(answers):
            raise ValueError(f"{right} is no number of {len(answers)} answers")
        many = tuple(_edits(answer) for answer in answers)
        yield Group(package, path, first, last, _edits(mutation), many, right)


def write(path: Path, groups: Iterable[Group]) -> None:
    """Groups of a document stand together: they are alike."""
    ordered = sorted(groups, key=lambda group: (group.package, group.path, group.first))
    raw = "".join(map(line, ordered)).encode()
    path.write_bytes(lzma.compress(raw, filters=_FILTERS))


def read(path: Path) -> list[Group]:
    """Errors: CheckpointError for a file that holds no groups."""
    try:
        return list(parsed(lzma.decompress(path.read_bytes()).decode()))
    except (OSError, lzma.LZMAError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: no groups to choose from: {error}") from error


def _edits(listed: list[list]) -> tuple[Edit, ...]:
    return tuple(Edit(*each) for each in listed)
