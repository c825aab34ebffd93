"""The lock file of releases: of each package those that are compared, with the sha256 of their wheels."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ConfigError

_HEAD = "# Releases whose differences mini learns from. Written by `python -m engine.train.edits`.\n"


@dataclass(frozen=True, slots=True)
class Releases:
    """wheels: version → sha256 of its wheel, the oldest first."""

    name: str
    wheels: Mapping[str, str]


def read(path: Path) -> dict[str, Releases]:
    """By package; none where there is no file. Errors: ConfigError for a file that is no lock."""
    if not path.exists():
        return {}
    try:
        found = tomllib.loads(path.read_text("utf-8"))
        if not all(isinstance(sum_, str) for wheels in found.values() for sum_ in wheels.values()):
            raise ValueError("a package needs a table of versions, each with a sha256")
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError(f"{path}: no lock of releases: {error}") from error
    return {name: Releases(name, wheels) for name, wheels in found.items()}


def write(path: Path, known: Iterable[Releases]) -> None:
    tables = (
        f"\n[{each.name}]\n" + "".join(f'"{version}" = "{sum_}"\n' for version, sum_ in each.wheels.items())
        for each in sorted(known, key=lambda each: each.name)
    )
    part = path.with_name(path.name + ".part")
    part.write_text(_HEAD + "".join(tables), "utf-8")
    part.replace(path)
