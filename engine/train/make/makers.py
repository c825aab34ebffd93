"""All makers by the name that a run's configuration gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.errors import CheckpointError, ConfigError
from engine.train.bugs import makers as bugs
from engine.train.bugs import record
from engine.train.bugs.traced import traced
from engine.train.edits import record as mends
from engine.train.library import Library
from engine.train.make import Maker
from engine.train.make.chosen import chosen
from engine.train.make.contrast import contrast, drawn
from engine.train.make.edited import edited
from engine.train.make.language import lm
from engine.train.make.middle import fim


@dataclass(frozen=True, slots=True)
class Stock:
    """What makers draw from. folder: of the shards and what lies beside them. half: `train` or `held`."""

    library: Library
    folder: Path
    half: str


MAKERS: dict[str, Callable[[Stock], Maker]] = {
    "lm": lambda stock: partial(lm, stock.library),
    "fim": lambda stock: partial(fim, stock.library),
    "bug": lambda _: bugs.bug,
    "right": lambda _: bugs.right,
    "traced": lambda stock: partial(
        traced, record.read(stock.folder / f"traced-{stock.half}.xz", stock.library.documents)
    ),
    "edits": lambda stock: partial(edited, mends.read(stock.folder / f"edits-{stock.half}.xz")),
    "chosen": lambda stock: partial(
        chosen, _with_choice(mends.read(path := stock.folder / f"edits-{stock.half}.xz"), path)
    ),
    "contrast": lambda stock: partial(
        contrast, drawn(stock.folder / f"contrast-{stock.half}.xz", stock.library.documents)
    ),
}


def makers(names: Iterable[str], stock: Stock) -> dict[str, Maker]:
    """Errors: ConfigError for a name that isn't known."""
    unknown = sorted(set(names) - MAKERS.keys())
    if unknown:
        raise ConfigError(f"no maker of examples is called {unknown[0]}; known are {', '.join(MAKERS)}")
    return {name: MAKERS[name](stock) for name in names}


def _with_choice(found: list[mends.Mend], path: Path) -> list[mends.Mend]:
    """Errors: CheckpointError where there is none."""
    kept = [mend for mend in found if mend.right >= 0]
    if not kept:
        raise CheckpointError(f"{path}: no mend in it has a choice; make them by bench/mends.py")
    return kept
