"""What a model is worth for repair.

    bench/model.py CHECKPOINT --cache DIR [--quixbugs DIR] [--fixes FILE] [--shards DIR] [--fit]

Ranking: where the right fix stands among 31 real candidates, by the priors alone, by the model alone, by both:

- quixbugs: an exported QuixBugs work tree; suspects by its tests' coverage
- mined: a file of real fixes, one a line (`repo`, `path`, `before`, `after`), of repositories that the corpus has
  nothing of; the statements near the fix are suspected alike
- synthetic: bugs put into the held-out packages of the corpus in --shards

Both together go by weights that were fitted on other cases: of mined and synthetic, by repositories and packages other
than the measured one's, and never on QuixBugs. `--fit` writes those of all of them to CHECKPOINT/ranking.json, where
`deskagent fix` reads them: the one command that a new checkpoint needs. Without mined and synthetic the checkpoint's
own weights are taken. Brackets hold 95 % intervals by resampling cases.

`--writing` (of --fixes): the developers' lines among 100 proposals at the true place. `--masters FOLDER` (plain weights
of the same checkpoint, as training leaves them; with --shards): losses on held-out documents with plain experts and as
MXFP4, and the attention that indexers keep against a window of the last tokens and a random choice.

Everything that was made or judged is kept in --cache, so the same command goes on where it was stopped. `--plan` makes
the cases alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import choice_cache
import choice_sets
import ranking
import writing

from deskagent.repair.model.engine import EngineJudge
from deskagent.repair.model.judge import Asked, Judge, Opinion
from deskagent.repair.model.measure import ranks
from deskagent.repair.model.measure.choices import CHANCE, Choice
from deskagent.repair.model.measure.ranks import Judged, by, interval, reciprocals
from deskagent.repair.model.weights import FILE, Weights, read
from deskagent.repair.model.writer.answer import Answer, Writer

FITTED = ("mined", "synthetic")
"""Sets that weights may be fitted on."""


class Timed:
    """A judge that counts what it is asked and the seconds that answers take."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.seconds, self.asked = 0.0, 0

    def warm(self) -> None:
        self._judge.warm()

    def opinions(self, asked: Asked, after: Sequence[str]) -> Sequence[Opinion]:
        began = time.perf_counter()
        found = self._judge.opinions(asked, after)
        self.seconds += time.perf_counter() - began
        self.asked += len(after)
        return found

    def proposals(self, asked: Asked, width: int) -> Sequence[Answer]:
        """Uncounted: what an edit takes to write isn't what one takes to judge."""
        assert isinstance(self._judge, Writer)
        return self._judge.proposals(asked, width)


def measure(name: str, found: dict[str, list[Judged]], own: Weights) -> dict[str, Any]:
    """A set's row; own: the weights where none can be fitted."""
    several = found[name]
    others = [one for other in FITTED if other != name for one in found.get(other, ())]
    if name in FITTED:
        both = ranking.crossed(several, others)
    else:
        both = reciprocals(several, by(ranking.fit(others) if others else own))
    return {
        "set": name,
        "choices": len(several),
        "reached": sum(one.choice.rank > 0 for one in several),
        **{
            key: [statistics.fmean(numbers), *interval(numbers)]
            for key, numbers in (
                ("priors", reciprocals(several, ranks.PRIORS)),
                ("model", reciprocals(several, ranks.MODEL)),
                ("both", both),
            )
        },
    }


def table(rows: Sequence[dict[str, Any]], timed: Timed) -> str:
    lines = [f"{'set':<12} {'choices':>7} {'reached':>7}" + "".join(f" {key:>19}" for key in _KEYS)]
    lines += [
        f"{row['set']:<12} {row['choices']:>7} {row['reached']:>7}"
        + "".join(" {:>5.3f} [{:.3f}, {:.3f}]".format(*row[key]) for key in _KEYS)
        for row in rows
    ]
    speed = (
        f"{1000 * timed.seconds / timed.asked:.1f} ms a candidate of {timed.asked}"
        if timed.asked
        else "nothing asked"
    )
    return "\n".join([*lines, f"an order at random: {CHANCE:.3f}; {speed}"])


_KEYS = ("priors", "model", "both")


def made(given: argparse.Namespace) -> Iterator[tuple[str, list[Choice]]]:
    """What the options name, each set as a list, from the cache as far as it is there."""
    listed = {}
    if given.quixbugs:
        cache = given.cache / "quixbugs" if given.cache else None
        listed["quixbugs"] = choice_sets.quixbugs(given.quixbugs, cache, given.seed)
    if given.synthetic and given.shards:
        from engine.train.shards import read as documents

        listed["synthetic"] = choice_sets.synthetic(documents(given.shards, "held"), given.count, given.seed)
    if given.fixes:
        listed["mined"] = choice_sets.mined(given.fixes, given.count, given.seed)
        if given.seen:
            listed["seen"] = choice_sets.mined(given.fixes, given.count, given.seed, seen=True)
    for name, cases in listed.items():
        path = choice_cache.place(given.cache, name, given.seed)
        yield name, list(choice_cache.choices(cases, path, choice_cache.speaker(f"{name}, cases")))


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--quixbugs", type=Path, metavar="DIR", help="an exported QuixBugs work tree")
    parser.add_argument("--fixes", type=Path, metavar="FILE", help="real fixes, one a line")
    parser.add_argument("--seen", action="store_true", help="also fixes of packages that the corpus is of")
    parser.add_argument("--shards", type=Path, metavar="DIR", help="the corpus")
    parser.add_argument(
        "--no-synthetic", dest="synthetic", action="store_false", help="put no bugs into --shards"
    )
    parser.add_argument("--count", type=int, default=100, help="cases a set (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where cases and answers are kept")
    parser.add_argument("--plan", action="store_true", help="make the cases, ask nothing")
    parser.add_argument("--fit", action="store_true", help=f"write {FILE} beside the checkpoint's weights")
    parser.add_argument("--writing", action="store_true", help="measure writing, too")
    parser.add_argument("--masters", type=Path, metavar="DIR", help="plain weights of the same checkpoint")
    parser.add_argument("--json", type=Path, metavar="OUT")
    return parser


def main() -> int:
    parser = options()
    given = parser.parse_args()
    judge = Timed(EngineJudge(given.checkpoint, "--idle", "60"))
    found: dict[str, list[Judged]] = {}
    for name, several in made(given):
        if given.plan:
            print(f"{name}: {len(several)} choices, {sum(one.rank > 0 for one in several)} reached")
            continue
        path = choice_cache.place(given.cache, name, given.seed, given.checkpoint)
        if not judge.asked:
            judge.opinions(Asked("", "pass"), ["pass"])  # loads it
            judge.seconds, judge.asked = 0.0, 0
        found[name] = choice_cache.judgements(several, judge, path, choice_cache.speaker(f"{name}, answers"))
    if given.plan:
        return 0
    pool = [one for name in FITTED for one in found.get(name, ())]
    own = read(given.checkpoint)
    weights = ranking.fit(pool) if pool else own
    rows = [measure(name, found, own) for name in found]
    whole: dict[str, Any] = {
        "checkpoint": os.fspath(given.checkpoint),
        "ranking": rows,
        "weights": asdict(weights),
    }
    if rows:
        print(table(rows, judge))
        print("weights: " + ", ".join(f"{key} {value:.3g}" for key, value in asdict(weights).items()))
        whole["seconds"] = judge.seconds / max(1, judge.asked)
    if given.fit:
        if not pool:
            parser.error("--fit needs --fixes or --shards")
        facts = asdict(weights) | {"fitted": {name: len(found[name]) for name in FITTED if name in found}}
        (given.checkpoint / FILE).write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    if given.writing and given.fixes:
        fixes = choice_sets.sample(given.fixes, given.count, given.seed)
        path = choice_cache.place(given.cache, "writing", given.seed, given.checkpoint)
        whole["writing"] = writing.written(fixes, judge, weights, path)
        for line in whole["writing"]:
            print(
                "writing, {kind}: of {cases} {typed} by typed edits, {model} as the model orders them, "
                "{written} with its own among them".format(**line)
            )
    if given.masters and given.shards:
        import held

        whole["held"] = held.measured(given.masters, given.shards)
        print(held.table(whole["held"]))
    if given.json:
        given.json.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
