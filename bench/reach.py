"""How many fixes of real histories the tables hold where the place is known, without running any test.

    bench/reach.py FILE… [--first N] [--missing]

FILE has one fix a line, as JSON: `repo`, `path`, `before` and `after` (the file's text), a change of one hunk. For each
the candidates of the statements that the hunk changes, or stands beside, are made as a repair makes them, with no
evidence at all. Prints by kind of edit how many of the developers' are among them, and how many among the first 100
of their place: figures alone, so that files can be set apart; `--missing` prints the edits, for those that may be read.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from deskagent.repair.candidates import python
from deskagent.repair.candidates.base import Place
from deskagent.repair.model.measure.hunk import Hunk
from deskagent.repair.rank import MAX_PROPOSALS, iter_candidates
from deskagent.repair.scope import Scopes
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.tokens import TokenStream
from deskagent.repair.types import Edit, Suspect
from engine.train.edits.kinds import kind_of_fix

FIRST = 100


def measured(fix: dict[str, Any]) -> tuple[str, int, int, str]:
    """(kind of edit, candidates at its places, best rank: 0 not among them, operator) of one fix."""
    source = SourceFile.from_bytes(fix["path"], fix["before"].encode())
    hunk = Hunk.of(source.utf8, fix["after"].encode())
    syntax, stream = Syntax(source), TokenStream(source)
    kind, wanted = kind_of_fix(fix["before"], fix["after"]), stream.key((hunk.edit(source.path),))
    scopes, held, total = Scopes(syntax), [], 0
    for line in hunk.places(syntax):
        place = Place(syntax, scopes, syntax.by_line[line])
        for proposal in itertools.islice(python.propose(place), MAX_PROPOSALS):
            total += 1
            edits = tuple(Edit(source.path, *one) for one in proposal.edits)
            if stream.key(edits) == wanted:
                held.append(line)
                break
    best, operator = 0, ""
    for line in held:
        made = iter_candidates(lambda _: source, [Suspect(source.path, line, 1.0, ())])
        for rank, candidate in enumerate(itertools.islice(made, MAX_PROPOSALS), 1):
            if candidate.key == wanted:
                if not best or rank < best:
                    best, operator = rank, candidate.operator
                break
    return kind, total, best, operator


def main() -> int:
    parser = argparse.ArgumentParser(description="reach of the tables where the place is known")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--first", type=int, default=None, metavar="N")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th fix alone")
    parser.add_argument("--missing", action="store_true", help="print edits that aren't among the candidates")
    parser.add_argument("--out", type=Path, help="write kind, rank and operator of each fix, as JSON lines")
    options = parser.parse_args()
    count: Counter[str] = Counter()
    held: Counter[str] = Counter()
    early: Counter[str] = Counter()
    made, started = 0, time.process_time()
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(options.out.open("w")) if options.out else None
        for fix in itertools.islice(fixes(options.files), 0, options.first, options.every):
            try:
                kind, total, rank, operator = measured(fix)
            except (SyntaxError, ValueError, RecursionError):
                continue
            made += total
            count[kind] += 1
            held[kind] += rank > 0
            early[kind] += 0 < rank <= FIRST
            if out is not None:
                row = {"repo": fix["repo"], "kind": kind, "rank": rank, "of": total, "operator": operator}
                print(json.dumps(row), file=out, flush=True)
            if options.missing and not rank:
                print(f"## {kind} {fix['repo']} {fix['path']}")
                lines = difflib.unified_diff(
                    fix["before"].splitlines(), fix["after"].splitlines(), n=2, lineterm=""
                )
                print("\n".join(itertools.islice(lines, 2, None)))
    everything = sum(count.values()) or 1
    print(f"{'kind of edit':28} fixes  held  in {FIRST}")
    for kind, number in count.most_common():
        print(f"{kind:28} {number:5} {held[kind]:5} {early[kind]:5}")
    print(f"{'all':28} {everything:5} {sum(held.values()):5} {sum(early.values()):5}   "
          f"{sum(held.values()) / everything:.1%} {sum(early.values()) / everything:.1%}; "
          f"{made / everything:.0f} candidates each, {time.process_time() - started:.0f} s")  # fmt: skip
    return 0


def fixes(files: list[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        with file.open() as lines:
            yield from map(json.loads, lines)


if __name__ == "__main__":
    sys.exit(main())
