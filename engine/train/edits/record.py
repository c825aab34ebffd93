"""Mends that people made, as a file beside the shards: xz-compressed lines of JSON, those of a function together."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

from engine.errors import CheckpointError
from engine.prompt.edits import Edit

_FILTERS = [
    {
        "id": lzma.FILTER_LZMA2,
        "preset": 9 | lzma.PRESET_EXTREME,
        "dict_size": 64 << 20,
        "lc": 4,
        "lp": 0,
        "pb": 0,
    }
]


@dataclass(frozen=True, slots=True)
class Mend:
    """path: in the package. name: of the function. kind: see `kinds`. shown: what a question shows, with what was to be
    mended. edits: of it. answers: real candidates, the likeliest by hand-made priors first, of which the one at `right`
    mends it; none where no choice was made."""

    package: str
    path: str
    name: str
    kind: str
    shown: str
    edits: tuple[Edit, ...]
    answers: tuple[tuple[Edit, ...], ...] = ()
    right: int = -1


def line(mend: Mend) -> str:
    return json.dumps(astuple(mend), ensure_ascii=False, separators=(",", ":")) + "\n"


def parsed(text: str) -> Mend:
    package, path, name, kind, shown, edits, answers, right = json.loads(text)
    many = tuple(_edits(answer) for answer in answers)
    if not -1 <= right < max(1, len(many)):
        raise ValueError(f"{right} is no number of {len(many)} answers")
    return Mend(package, path, name, kind, shown, _edits(edits), many, right)


def write(path: Path, mends: Iterable[Mend]) -> int:
    """Returns its bytes."""
    ordered = sorted(mends, key=lambda mend: (mend.package, mend.path, mend.name))
    return path.write_bytes(lzma.compress("".join(map(line, ordered)).encode(), filters=_FILTERS))


def read(path: Path) -> list[Mend]:
    """Errors: CheckpointError for a file that holds none."""
    try:
        text = lzma.decompress(path.read_bytes()).decode()
        return [parsed(each) for each in text.split("\n") if each]
    except (OSError, lzma.LZMAError, ValueError, TypeError) as error:
        raise CheckpointError(
            f"{path}: no edits to learn from: {error}; make them by engine.train.edits"
        ) from error


def _edits(listed: list[list]) -> tuple[Edit, ...]:
    return tuple(Edit(*each) for each in listed)
