"""The mends of a package's releases, and of all packages: each once, none that is in the other half too."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.prompt.edits import write
from engine.train.edits.keep import kept
from engine.train.edits.lock import Releases
from engine.train.edits.pairs import Pair, pairs
from engine.train.edits.record import Mend
from engine.train.edits.wheel import Wheel


@dataclass(slots=True)
class Counts:
    """seen: functions changed in one place. left_out: of them, by why. kinds: of those kept. licences: releases that
    say of no permissive one, which nothing is taken from."""

    seen: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    licences: int = 0

    def words(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "seen": self.seen,
            "left_out": dict(self.left_out),
            "kinds": dict(self.kinds),
            "licences": self.licences,
        }

    def add(self, other: Mapping[str, Any]) -> None:
        """other: as `words` gives it."""
        self.seen += other["seen"]
        self.left_out.update(other["left_out"])
        self.kinds.update(other["kinds"])
        self.licences += other["licences"]


def of_package(package: Releases, wheels: Mapping[str, Path], counts: Counts) -> Iterator[Mend]:
    """wheels: version → file."""
    found = list(_pairs(package, wheels, counts))
    counts.seen += len(found)
    for each in kept(found, counts.left_out):
        counts.kinds[each.kind] += 1
        pair = each.pair
        yield Mend(pair.package, pair.path, pair.name, each.kind, pair.shown, each.edits)


def distinct(mends: Iterable[Mend], seen: set[int]) -> Iterator[Mend]:
    """Those whose excerpt, or whose change with the lines beside it, wasn't seen before; blanks aside. seen: grows."""
    for mend in mends:
        keys = {_key(mend.shown), _key(_around(mend))}
        if not keys & seen:
            yield mend
        seen |= keys


def _pairs(package: Releases, wheels: Mapping[str, Path], counts: Counts) -> Iterator[Pair]:
    before: Wheel | None = None
    for version in package.wheels:
        after = Wheel(wheels[version])
        if after.licence() is None:
            counts.licences += 1
            after.close()
            continue
        if before is not None:
            with closing(before):
                yield from pairs(package.name, version, before, after)
        before = after


def _around(mend: Mend) -> str:
    lines = mend.shown.split("\n")
    rows = [edit.line for edit in mend.edits]
    beside = lines[max(0, min(rows) - 3) : max(rows) + 2]
    return "\n".join(beside) + write([replace(edit, line=0) for edit in mend.edits])


def _key(text: str) -> int:
    return zlib.crc32("".join(text.split()).encode()) | len(text.split()) << 32
