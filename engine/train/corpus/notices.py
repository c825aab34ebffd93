"""What the licences of packages say, which goes wherever their code goes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from engine.train.corpus import packages
from engine.train.corpus.lock import Package

_NAMED = re.compile(r"(licen[cs]e|copying|copyright|notice|authors)", re.IGNORECASE)
_LARGEST = 200_000
"""Bytes; some list the licences of everything that was ever built in."""


def notices(locked: Iterable[Package], sites: Sequence[Path]) -> dict[str, str]:
    """Package → its version, its licence's name, and the texts that came with it. Packages have to be in `sites`."""
    found = {package: packages.find(package.name, package.version, sites) for package in locked}
    return {
        package.name: f"{package.name} {package.version}: {package.licence}\n\n" + "\n\n".join(texts(there))
        for package, there in found.items()
        if there is not None
    }


def texts(found: packages.Found) -> list[str]:
    """Each once, in the order of their paths."""
    about = sorted(path for path in found.paths if _says_licence(path))
    files = [found.root / path for path in about]
    read = [
        path.read_text("utf-8", "replace")
        for path in files
        if path.is_file() and path.stat().st_size < _LARGEST
    ]
    return list(dict.fromkeys(read))


def _says_licence(path: str) -> bool:
    """Beside a package's metadata, or at the root of the standard library."""
    whole = PurePosixPath(path)
    beside = len(whole.parts) == 1 or whole.parts[0].endswith(".dist-info")
    return beside and whole.suffix != ".py" and _NAMED.search(whole.name) is not None
