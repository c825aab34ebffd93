"""All makers by the name that a run's configuration gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from engine.errors import ConfigError
from engine.train.bugs import makers as bugs
from engine.train.library import Library
from engine.train.make import Maker
from engine.train.make.language import lm
from engine.train.make.middle import fim

MAKERS: dict[str, Callable[[Library], Maker]] = {
    "lm": lambda library: partial(lm, library),
    "fim": lambda library: partial(fim, library),
    "bug": lambda _: bugs.bug,
    "right": lambda _: bugs.right,
}


def makers(names: Iterable[str], library: Library) -> dict[str, Maker]:
    """Errors: ConfigError for a name that isn't known."""
    unknown = sorted(set(names) - MAKERS.keys())
    if unknown:
        raise ConfigError(f"no maker of examples is called {unknown[0]}; known are {', '.join(MAKERS)}")
    return {name: MAKERS[name](library) for name in names}
