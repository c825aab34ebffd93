"""python -m engine.train.edits LOCK OUT --corpus CORPUS.lock --wheels FOLDER [--package NAME …]

Compares releases of the corpus' packages and writes OUT/edits-train.xz and OUT/edits-held.xz. LOCK names the releases;
packages that aren't in it are looked up, fetched and written in. Wheels are kept in FOLDER, and beside them what was
found in each package: the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from engine.errors import CheckpointError, ConfigError, EngineError
from engine.train.corpus import lock as corpus
from engine.train.corpus.packages import refuse
from engine.train.edits import gather, lock, record, releases
from engine.train.edits.gather import Counts
from engine.train.edits.lock import Releases

_AT_ONCE = 20
"""Packages that pip is asked for at once."""


def locked(path: Path, packages: Iterable[corpus.Package], folder: Path) -> dict[str, Releases]:
    """Of each package its releases, new ones written in."""
    known = lock.read(path)
    missing = [each for each in packages if each.name not in known]
    versions: dict[str, list[str]] = {}
    for package in missing:
        refuse(package.name)
        try:
            versions[package.name] = releases.chosen(releases.listed(package.name), package.version)
        except ConfigError as error:
            print(error, file=sys.stderr)
    for some in releases.rounds(versions, _AT_ONCE):
        releases.fetch(some, folder)
    there = releases.wheels(folder)
    for name, several in versions.items():
        had = {
            version: there[releases.key(name, version)]
            for version in several
            if releases.key(name, version) in there
        }
        known[name] = Releases(name, {version: _sum(wheel) for version, wheel in had.items()})
        lock.write(path, known.values())
    return known


def fetched(known: Iterable[Releases], folder: Path) -> dict[str, dict[str, Path]]:
    """Package → version → wheel. Errors: CheckpointError for one that can't be had, or isn't the locked one."""
    known = list(known)
    for some in releases.rounds({each.name: list(each.wheels) for each in known}, _AT_ONCE):
        releases.fetch(some, folder)
    there = releases.wheels(folder)
    found: dict[str, dict[str, Path]] = {}
    for package in known:
        for version, wanted in package.wheels.items():
            wheel = there.get(releases.key(package.name, version))
            if wheel is None or _sum(wheel) != wanted:
                what = "can't be fetched" if wheel is None else "isn't the one that was locked"
                raise CheckpointError(f"{package.name} {version}: its wheel {what}; lock the package anew")
            found.setdefault(package.name, {})[version] = wheel
    return found


def gathered(
    package: Releases, wheels: Mapping[str, Path], folder: Path, counts: Counts
) -> Sequence[record.Mend]:
    """The package's mends, from a file beside its wheels if it is of the same releases."""
    told = zlib.crc32(repr(sorted(package.wheels.items())).encode())
    kept = folder / f"{package.name}-{told:08x}.jsonl"
    if not kept.exists():
        own = Counts()
        mends = list(gather.of_package(package, wheels, own))
        part = kept.with_suffix(".part")
        part.write_text(json.dumps(own.words()) + "\n" + "".join(map(record.line, mends)), "utf-8")
        part.replace(kept)
        print(f"{package.name}: {own.seen} changes, {len(mends)} kept", flush=True)
    head, _, lines = kept.read_text("utf-8").partition("\n")
    counts.add(json.loads(head))
    return [record.parsed(each) for each in lines.split("\n") if each]


def main() -> int:
    parser = argparse.ArgumentParser(prog="engine.train.edits", description="Gather edits that people made.")
    parser.add_argument("lock", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpus", type=Path, required=True, help="the lock of the corpus")
    parser.add_argument("--wheels", type=Path, required=True, help="folder to fetch into")
    parser.add_argument("--package", action="append", default=[], help="these alone")
    try:
        run(parser.parse_args())
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def run(given: argparse.Namespace) -> None:
    given.wheels.mkdir(parents=True, exist_ok=True)
    wanted = [
        package
        for package in corpus.read(given.corpus)
        if package.name != corpus.STANDARD_LIBRARY and (not given.package or package.name in given.package)
    ]
    known = locked(given.lock, wanted, given.wheels)
    wheels = fetched((known[each.name] for each in wanted if each.name in known), given.wheels)
    seen: set[int] = set()
    # those to learn from come first, so what both halves share is not held out
    for half in ("train", "held"):
        counts = Counts()
        found = [
            mend
            for package in wanted
            if package.use == half and package.name in wheels
            for mend in gathered(known[package.name], wheels[package.name], given.wheels, counts)
        ]
        mends = list(gather.distinct(found, seen))
        size = record.write(given.out / f"edits-{half}.xz", mends)
        print(f"{half}: {len(mends)} mends, {len(found) - len(mends)} alike left out, {size} bytes; {counts}")


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
