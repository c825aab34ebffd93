"""python -m engine.train.corpus LOCK --packages FOLDER [--environment ENV …] [--train NAME …] [--held NAME …]

Locks packages by name: those of LOCK stay as they are, new ones are found or installed, checked and written in.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.errors import ConfigError
from engine.train.corpus import lock, packages
from engine.train.corpus.excluded import normal


def main() -> int:
    parser = argparse.ArgumentParser(prog="engine.train.corpus", description="Lock packages to learn from.")
    parser.add_argument("lock", type=Path)
    parser.add_argument("--train", nargs="+", default=[], metavar="NAME", help="learn from these")
    parser.add_argument("--held", nargs="+", default=[], metavar="NAME", help="hold these out for measuring")
    parser.add_argument("--packages", type=Path, required=True, help="folder to install into")
    parser.add_argument("--environment", type=Path, action="append", default=[])
    given = parser.parse_args()
    known = {package.name: package for package in lock.read(given.lock)} if given.lock.exists() else {}
    sites = [*packages.site_folders(given.environment), *sorted(given.packages.glob("*"))]
    refused = 0
    halves: tuple[tuple[lock.Use, list[str]], ...] = (("train", given.train), ("held", given.held))
    for use, names in halves:
        for name in map(normal, names):
            if name in known:
                continue
            try:
                packages.refuse(name)
                found = packages.find(name, None, sites) or packages.install(name, None, given.packages)
                known[name] = found.locked(use)
            except ConfigError as error:
                print(error, file=sys.stderr)
                refused += 1
    lock.write(given.lock, known.values())
    print(f"{given.lock}: {len(known)} packages, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
