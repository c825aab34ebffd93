"""What a model is worth for repair: `bench/model.py CHECKPOINT --quixbugs DIR --real FILE --mirror DIR --shards DIR`.

Ranking: where the right fix stands among 31 real candidates, by the priors alone, by the model alone, by both. Writing
(`--writing`, of --real): the share of developers' lines among 100 proposals at the true place. Both together go by the
checkpoint's ranking.json, or its absence's defaults; `--fit SET` fits new weights on one of the sets (mined or
synthetic, never QuixBugs), whose own figure is then cross-fitted, and `--weights OUT` writes them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import choice_sets
import ranking
from choices import CHANCE, Choice
from ranking import Judged
from writing import written

from deskagent.repair.model.engine import EngineJudge
from deskagent.repair.model.judge import Asked, Judge, Opinion
from deskagent.repair.model.weights import FILE, Weights, read


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


def judged(choice: Choice, judge: Judge) -> Judged:
    """A choice with its numbers; an edit that the priors don't reach counts for less than all the others."""
    opinions: dict[int, tuple[Opinion, Opinion]] = {}
    for excerpt in dict.fromkeys((option.path, option.excerpt) for option in choice.options):
        group = [i for i, option in enumerate(choice.options) if (option.path, option.excerpt) == excerpt]
        asked = Asked(*excerpt, choice.failure, choice.request)
        none, *said = judge.opinions(asked, [excerpt[1], *(choice.options[i].after for i in group)])
        opinions |= {i: (opinion, none) for i, opinion in zip(group, said, strict=True)}
    least = min((o.value for o in choice.options if o.value is not None), default=0.0)
    values = [least - 1e-6 if o.value is None else o.value for o in choice.options]
    rows = [
        (value, opinions[i][0].loglik, float(opinions[i][0].tokens), opinions[i][1].loglik)
        for i, value in enumerate(values)
    ]
    return Judged(choice, rows)


def measure(name: str, found: Sequence[Judged], weights: Weights, fitted: bool) -> dict[str, Any]:
    both = ranking.crossed(found) if fitted else ranking.reciprocal(found, ranking.by(weights))
    return {
        "set": name,
        "choices": len(found),
        "reached": sum(one.choice.rank > 0 for one in found),
        "priors": ranking.reciprocal(found, ranking.PRIORS),
        "model": ranking.reciprocal(found, ranking.MODEL),
        "both": both,
    }


def table(rows: Iterable[dict[str, Any]], seconds: float) -> str:
    lines = [f"{'set':<12} {'choices':>7} {'reached':>7} {'priors':>7} {'model':>7} {'both':>7}"]
    lines += [
        f"{row['set']:<12} {row['choices']:>7} {row['reached']:>7}"
        + "".join(f" {row[key]:>7.3f}" for key in ("priors", "model", "both"))
        for row in rows
    ]
    return "\n".join([*lines, f"an order at random: {CHANCE:.3f}; {1000 * seconds:.1f} ms a candidate"])


def sets(given: argparse.Namespace) -> dict[str, Iterable[Choice]]:
    """What the options name; made as it is read."""
    found: dict[str, Iterable[Choice]] = {}
    if given.quixbugs:
        cache = given.cache / "quixbugs" if given.cache else None
        found["quixbugs"] = choice_sets.quixbugs(given.quixbugs, cache, given.seed)
    if given.real:
        cache = given.cache / "mined" if given.cache else None
        found["mined"] = choice_sets.mined(given.real, given.mirror, given.python, cache, given.seed)
    if given.shards:
        from engine.train.shards import read as documents

        found["synthetic"] = choice_sets.synthetic(documents(given.shards, "held"), given.count, given.seed)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--quixbugs", type=Path, metavar="DIR", help="an exported QuixBugs work tree")
    parser.add_argument(
        "--real", type=Path, action="append", metavar="FILE", help="facts of real fixes, to tune on"
    )
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="bare git directories for --real")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter for --real")
    parser.add_argument(
        "--shards", type=Path, metavar="DIR", help="the corpus, whose held-out half gets bugs"
    )
    parser.add_argument("--count", type=int, default=200, help="synthetic choices (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where results of tests are kept, by set")
    parser.add_argument("--writing", action="store_true", help="measure writing, too")
    parser.add_argument("--fit", choices=["mined", "synthetic"], help="fit weights on this set")
    parser.add_argument(
        "--weights", type=Path, metavar="OUT", help=f"where they go; {FILE} beside the checkpoint"
    )
    parser.add_argument("--json", type=Path, metavar="OUT")
    given = parser.parse_args()
    if given.real and not given.mirror:
        parser.error("--real needs --mirror")
    judge = Timed(EngineJudge(given.checkpoint))
    judge.opinions(Asked("", "pass"), ["pass"])  # loads it
    judge.seconds, judge.asked = 0.0, 0
    found = {name: [judged(one, judge) for one in choices] for name, choices in sets(given).items()}
    if given.fit and not found.get(given.fit):
        parser.error(f"--fit {given.fit}: there are no such choices")
    weights = ranking.fit(found[given.fit]) if given.fit else read(given.checkpoint)
    rows = [measure(name, several, weights, name == given.fit) for name, several in found.items()]
    seconds = judge.seconds / max(1, judge.asked)
    print(table(rows, seconds))
    if given.weights:
        facts = asdict(weights) | {"fitted": given.fit, "choices": len(found.get(given.fit, ()))}
        given.weights.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    lines = []
    if given.writing and given.real:
        cache = given.cache / "mined" if given.cache else None
        lines = written(given.real, given.mirror, given.python, cache, judge, weights)
        for line in lines:
            print(
                f"writing, {line['kind']}: of {line['cases']} {line['typed']} by typed edits, {line['model']} with"
            )
    if given.json:
        ranks = {
            name: [choice_sets.facts_of(one.choice) for one in several] for name, several in found.items()
        }
        whole = {
            "ranking": rows,
            "seconds": seconds,
            "weights": asdict(weights),
            "writing": lines,
            "choices": ranks,
        }
        given.json.write_text(json.dumps(whole, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
