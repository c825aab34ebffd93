"""The lock file of the corpus: which packages, of which version and licence, and what was read of them.

A TOML table a package. `sha256` is over the files that are read (paths and contents), so it says whether the same
texts are learnt from, wherever a package was installed from.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from engine.errors import ConfigError

STANDARD_LIBRARY = "python"
"""The name under which the running interpreter's own library stands."""
Use = Literal["train", "held"]
_HEAD = (
    "# What mini learns from. Written by `python -m engine.train.corpus`; the packages' own licences hold.\n"
)


@dataclass(frozen=True, slots=True)
class Package:
    """use: learnt from, or held out for measuring."""

    name: str
    version: str
    licence: str
    use: Use
    sha256: str


def read(path: Path) -> list[Package]:
    """Errors: ConfigError for a file that is no lock."""
    try:
        listed = tomllib.loads(path.read_text("utf-8")).get("package", [])
        packages = [_package(entry) for entry in listed]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path}: no lock of a corpus: {error}") from error
    names = [package.name for package in packages]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{path}: {twice} is in it twice; take one out")
    return packages


def write(path: Path, packages: Iterable[Package]) -> None:
    tables = (
        "[[package]]\n" + "".join(f"{key} = {_quoted(value)}\n" for key, value in asdict(package).items())
        for package in sorted(packages, key=lambda package: package.name)
    )
    path.write_text(_HEAD + "".join(f"\n{table}" for table in tables), "utf-8")


def _package(entry: Any) -> Package:
    known = {field.name for field in fields(Package)}
    if (
        not isinstance(entry, dict)
        or set(entry) != known
        or not all(isinstance(v, str) for v in entry.values())
    ):
        raise ValueError(f"a package needs {', '.join(sorted(known))}, all of them texts, and nothing else")
    if entry["use"] not in ("train", "held"):
        raise ValueError(f"use of {entry['name']} is {entry['use']!r}, not train or held")
    return Package(**entry)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
