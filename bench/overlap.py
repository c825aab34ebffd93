"""Whether anything that a model is measured on stands in the corpus that it learns from.

    bench/overlap.py SHARDS [--quixbugs DIR] [--fixes FILE] [--most 0.5]

The corpus leaves projects out by their names; this looks at the lines. Of each program (QuixBugs, with and without its
bug) and of each fix (its changed lines with some around them) all pairs of neighbouring lines are counted, without
indentation, comments and blank lines; then the document that shares the most of them is found. Exit status 1 where more
than the share --most of a program stands in one document. Fixes are counted by repository: figures alone.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from deskagent.repair.model.measure.hunk import Hunk
from deskagent.repair.model.measure.suites import fixes

AROUND = 4
"""Lines beside a fix's own that are compared as well."""
FEWEST = 3
"""Pairs of a text, below which a share says nothing."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class Found:
    """A text's pairs, and the document that has most of them."""

    name: str
    group: str
    pairs: int
    shared: int
    where: str

    @property
    def share(self) -> float:
        return self.shared / max(1, self.pairs)


def pairs_of(text: str) -> set[Pair]:
    """Neighbouring lines that say something: neither blank nor comment, not both of them punctuation alone."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("#", '"""'))]
    return {
        pair
        for pair in itertools.pairwise(lines)
        if any(sum(letter.isalnum() for letter in line) > 3 for line in pair)
    }


def programs(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(name, group, text) of QuixBugs."""
    for kind in ("python_programs", "correct_python_programs"):
        for file in sorted((folder / kind).glob("*.py")):
            yield f"{kind}/{file.stem}", "quixbugs", file.read_text("utf-8")


def changed(file: Path) -> Iterator[tuple[str, str, str]]:
    """Of each fix its lines after, with some around them."""
    for fix in fixes(file):
        hunk = Hunk.of(fix.before.encode(), fix.after.encode())
        lines = fix.after.encode().splitlines()
        part = lines[max(0, hunk.first - AROUND) : hunk.first + len(hunk.new) + AROUND]
        yield fix.name, fix.group, b"\n".join(part).decode()


def compare(texts: Iterable[tuple[str, str, str]], documents: Iterable[tuple[str, str]]) -> list[Found]:
    """documents: (where, text)."""
    known = [(name, group, pairs_of(text)) for name, group, text in texts]
    holders: defaultdict[Pair, list[int]] = defaultdict(list)
    for number, (_, _, pairs) in enumerate(known):
        for pair in pairs:
            holders[pair].append(number)
    best: dict[int, tuple[int, str]] = {}
    for where, text in documents:
        here: Counter[int] = Counter()
        for pair in pairs_of(text) & holders.keys():
            here.update(holders[pair])
        for number, count in here.items():
            if count > best.get(number, (0, ""))[0]:
                best[number] = count, where
    return [
        Found(name, group, len(pairs), *best.get(number, (0, "")))
        for number, (name, group, pairs) in enumerate(known)
        if len(pairs) >= FEWEST
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path)
    parser.add_argument("--quixbugs", type=Path, metavar="DIR")
    parser.add_argument("--fixes", type=Path, metavar="FILE")
    parser.add_argument("--most", type=float, default=0.5)
    given = parser.parse_args()
    from engine.train.shards import read

    documents = [
        (f"{half}:{each.package}/{each.path}", each.text)
        for half in ("train", "held")
        for each in read(given.shards, half)
    ]
    copies: list[Found] = []
    if given.quixbugs:
        found = sorted(compare(programs(given.quixbugs), documents), key=lambda one: one.share, reverse=True)
        copies = [one for one in found if one.share > given.most]
        print(
            f"QuixBugs: {len(found)} programs; {len(copies)} with over {given.most:.0%} of their lines in one document"
        )
        for one in found[:5]:
            print(f"  {one.name}: {one.shared} of {one.pairs} pairs in {one.where}")
    if given.fixes:
        by_group: defaultdict[str, list[Found]] = defaultdict(list)
        for one in compare(changed(given.fixes), documents):
            by_group[one.group].append(one)
        print("fixes, with over that share of their lines in one document, by repository:")
        for group, several in sorted(by_group.items()):
            print(f"  {group}: {sum(one.share > given.most for one in several)} of {len(several)}")
    return 1 if copies else 0


if __name__ == "__main__":
    raise SystemExit(main())
