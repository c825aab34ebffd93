"""Examples of the choice among real candidates: `bench/contrast.py SHARDS OUT --count N [--seed S]`.

Bugs are put into documents of the corpus (SHARDS: its folder), the repair's own typed edits are made around them, and
no test is run. A line of OUT is {"path", "excerpt", "failure", "request", "candidates", "right"}: candidates are edits
as answers write them, up to 31, of which the one at `right` mends the bug. The same command goes on where it was
stopped; OUT.at says where that is.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from choice_sets import near, put_bug
from choices import SIZE, fix_of, option

from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax

if TYPE_CHECKING:
    from engine.train.corpus.files import Document

LARGEST = 30_000
"""Letters of a document: reading the tree of a longer one takes most of the time."""
MADE = 120
"""Candidates that are drawn from: the likelier, the more of them are taken."""
_AROUND = 6


@dataclass
class At:
    """How far OUT is: documents looked at, bytes written; for which seed."""

    seed: int
    looked: int = 0
    size: int = 0
    made: int = 0


def record(document: Document, rng: random.Random) -> dict[str, Any] | None:
    """None where this draw gives no bug, or too few candidates."""
    from engine.prompt.edits import between, write
    from engine.train.bugs.answer import LARGEST as LONGEST

    bug = put_bug(document, rng)
    if bug is None:
        return None
    source = SourceFile.from_bytes(bug.path, bug.before)
    syntax = Syntax(source)
    fix = fix_of(syntax, bug.after)
    if fix is None:
        return None
    right = write(between(fix.excerpt, fix.after))
    told = {right}
    stream = iter_candidates(lambda _: source, near(bug, syntax, _AROUND))
    for number, candidate in enumerate(stream):
        other = option(0.0, syntax, candidate.line, candidate.edits)
        if other is not None and other.excerpt == fix.excerpt:
            told.add(write(between(other.excerpt, other.after)))
        if number >= MADE:
            break
    others = sorted(text for text in told - {right} if len(text) <= LONGEST)
    if len(others) < SIZE // 2 or len(right) > LONGEST:
        return None
    candidates = rng.sample(others, min(SIZE - 1, len(others)))
    place = rng.randint(0, len(candidates))
    candidates.insert(place, right)
    return {
        "path": bug.path, "excerpt": fix.excerpt, "failure": "", "request": "", "candidates": candidates,
        "right": place,
    }  # fmt: skip


def records(documents: list[Document], at: At) -> Iterator[dict[str, Any] | None]:
    """One for each document that is looked at, round after round, from where `at` is."""
    fit = [d for d in documents if d.language == "python" and len(d.text) <= LARGEST]
    if not fit:
        raise SystemExit("no document of Python that is short enough")
    while True:
        rounds, place = divmod(at.looked, len(fit))
        order = list(range(len(fit)))
        random.Random(f"{at.seed} {rounds}").shuffle(order)
        yield record(fit[order[place]], random.Random(f"{at.seed} {at.looked}"))


def go(documents: list[Document], out: Path, count: int, seed: int) -> At:
    """Writes until there are `count` records."""
    state = out.with_name(out.name + ".at")
    at = At(**json.loads(state.read_text("utf-8"))) if state.exists() else At(seed)
    if at.seed != seed:
        raise SystemExit(f"{out} was begun with seed {at.seed}; name that, or another file")
    with out.open("ab") as file:
        file.truncate(at.size)  # what was written and not noted
        for made in records(documents, at):
            if at.made >= count:
                break
            if made is not None:
                file.write(json.dumps(made, ensure_ascii=False).encode() + b"\n")
                file.flush()
                at.made += 1
            at.looked, at.size = at.looked + 1, file.tell()
            part = state.with_name(state.name + ".part")
            part.write_text(json.dumps(vars(at)), "utf-8")
            part.replace(state)
    return at


def main() -> int:
    from engine.train.shards import read

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    at = go(read(given.shards, "train"), given.out, given.count, given.seed)
    print(f"{at.made} records of {at.looked} draws, {at.size} bytes, {time.monotonic() - began:.0f} s now")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
