"""Groups to choose from, for training: `bench/contrast.py SHARDS OUT --half HALF --count N [--seed S] [--pack FILE]`.

Bugs are put into documents of one half of the corpus (SHARDS: its folder), the repair's own typed edits are made of
what it would ask a model about, and no test is run. OUT has a line of JSON for each group; the same command goes on
where it was stopped, OUT.at says where that is. `--pack` writes them as training reads them.
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
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from groups import broken_of, group_of

if TYPE_CHECKING:
    from engine.train.choices import Group
    from engine.train.corpus.files import Document

LARGEST = 24_000
"""Letters of a document: reading the tree of a longer one takes most of the time."""


@dataclass
class At:
    """How far OUT is: draws, bytes written; for which seed. bugs: that were put in; reached: those of them that typed
    edits mend, in a group."""

    seed: int
    looked: int = 0
    size: int = 0
    made: int = 0
    bugs: int = 0
    reached: int = 0


def group(document: Document, at: At) -> Group | None:
    """None where this draw gives no bug, or too few candidates."""
    rng = random.Random(f"{at.seed} {at.looked}")
    broken = broken_of(document, rng)
    if broken is None:
        return None
    made = group_of(broken, rng)
    if broken.before != broken.after:
        at.bugs += 1
        at.reached += made is not None
    return made


def groups(documents: list[Document], at: At) -> Iterator[Group | None]:
    """One for each document that is looked at, round after round, from where `at` is."""
    fit = [d for d in documents if d.language == "python" and len(d.text) <= LARGEST]
    if not fit:
        raise SystemExit("no document of Python that is short enough")
    order, shuffled = list(range(len(fit))), -1
    while True:
        rounds, place = divmod(at.looked, len(fit))
        if rounds != shuffled:
            order, shuffled = list(range(len(fit))), rounds
            random.Random(f"{at.seed} {rounds}").shuffle(order)
        yield group(fit[order[place]], at)


def go(documents: list[Document], out: Path, count: int, seed: int) -> At:
    """Writes until there are `count` groups."""
    from engine.train.choices import line

    state = out.with_name(out.name + ".at")
    at = At(**json.loads(state.read_text("utf-8"))) if state.exists() else At(seed)
    if at.seed != seed:
        raise SystemExit(f"{out} was begun with seed {at.seed}; name that, or another file")
    with out.open("ab") as file:
        file.truncate(at.size)  # what was written and not noted
        for made in groups(documents, at) if at.made < count else ():
            if made is not None:
                file.write(line(made).encode())
                file.flush()
                at.made += 1
            at.looked, at.size = at.looked + 1, file.tell()
            part = state.with_name(state.name + ".part")
            part.write_text(json.dumps(vars(at)), "utf-8")
            part.replace(state)
            if at.made >= count:
                break
    return at


def main() -> int:
    from engine.train import choices, shards

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--half", choices=["train", "held"], required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pack", type=Path, metavar="FILE")
    given = parser.parse_args()
    began = time.process_time()
    at = go(shards.read(given.shards, given.half), given.out, given.count, given.seed)
    print(
        f"{at.made} groups of {at.looked} draws; typed edits reached {at.reached} of {at.bugs} bugs;"
        f" {time.process_time() - began:.0f} s of a processor now"
    )
    if given.pack:
        choices.write(given.pack, choices.parsed(given.out.read_text("utf-8")))
        print(f"{given.pack}: {given.pack.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
