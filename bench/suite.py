"""Writes what `deskagent model regress` measures on.

    bench/suite.py own OUT.jsonl.xz --cache DIR [CASE…]     # lists to choose from, of bench/cases that may be tuned on
    bench/suite.py held OUT --shards DIR [--count N]        # texts of the corpus's held-out packages, a folder
    bench/suite.py fixes OUT.jsonl --fixes FILE [--count N] # real fixes of repositories that the corpus has nothing of

The first is the suite that comes with deskagent: programs that were written for it, so that no licence of others and no
memory of a model's speaks in it.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import choice_cache
import choice_sets
from known_fixes import folders

from deskagent.repair.model.measure.choices import line_of

CASES = Path(__file__).parent / "cases"


def own(out: Path, cases: list[str], cache: Path | None, seed: int) -> int:
    """Gives the number of cases."""
    bases = cache / "own" if cache is not None else None
    named = cases or sorted(str(path) for path in CASES.iterdir())
    makers = [
        (case.name, partial(choice_sets.of_case, case, bases, seed, 0)) for case in folders(named, held=False)
    ]
    path = choice_cache.place(cache, "own", seed)
    made = choice_cache.choices(makers, path, choice_cache.speaker("own"))
    lines = [line_of(replace(choice, drawn=())) + "\n" for choice in made]
    out.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    return len(lines)


def held(out: Path, shards: Path, count: int, seed: int) -> int:
    """As `own`, of documents."""
    from engine.train.shards import read

    found = read(shards, "held")
    for number, document in enumerate(random.Random(seed).sample(found, min(count, len(found)))):
        path = out / document.package / f"{number}-{Path(document.path).name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, "utf-8")
    return min(count, len(found))


def fixes(out: Path, file: Path, count: int, seed: int) -> int:
    found = choice_sets.sample(file, count, seed)
    out.write_text("".join(json.dumps(asdict(fix), ensure_ascii=False) + "\n" for fix in found), "utf-8")
    return len(found)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["own", "held", "fixes"])
    parser.add_argument("out", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--cache", type=Path, metavar="DIR")
    parser.add_argument("--shards", type=Path, metavar="DIR")
    parser.add_argument("--fixes", type=Path, metavar="FILE")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.kind == "own":
        count = own(given.out, given.cases, given.cache, given.seed)
    elif given.kind == "held":
        if not given.shards:
            parser.error("held needs --shards")
        count = held(given.out, given.shards, given.count, given.seed)
    else:
        if not given.fixes:
            parser.error("fixes needs --fixes")
        count = fixes(given.out, given.fixes, given.count, given.seed)
    print(f"{given.out}: {count} cases")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
