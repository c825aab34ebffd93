"""Where a package's files stand in its repository, as far as can be guessed: tools of repair say it so."""

from __future__ import annotations

import random

_ROOTS = {
    "": 0.52,
    "src/": 0.36,
    "lib/": 0.05,
    "python/": 0.03,
    "{package}/": 0.02,
    "packages/{package}/src/": 0.02,
}
"""What stands before the path that is installed → share."""
_LIBRARY = "python"
"""The package that is the standard library."""


def path(package: str, installed: str, rng: random.Random) -> str:
    if package == _LIBRARY:
        return f"Lib/{installed}"
    root = rng.choices(list(_ROOTS), list(_ROOTS.values()))[0]
    return root.format(package=package) + installed
