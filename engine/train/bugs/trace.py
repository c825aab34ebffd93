"""python -m engine.train.bugs.trace SHARDS OUT [--half HALF] [--seed N] [--most N] [--mutants N] [--bugs N] [--unsafe]

Puts bugs into functions that can be run and keeps those that show, with what a test says. SHARDS: folder of the corpus;
its files are laid out for a while, to be imported. OUT: an xz file of records; OUT's .part has them while they are
made, and a later call with the same arguments goes on from there. All that is run is run in a sandbox (bwrap).
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.train import shards
from engine.train.bugs import record
from engine.train.bugs.inputs import examples, functions, groups
from engine.train.bugs.needs import importable
from engine.train.bugs.put import put
from engine.train.bugs.record import Bug, Function
from engine.train.bugs.runner import Runner
from engine.train.bugs.source import Unit
from engine.train.corpus.files import Document
from engine.train.library import module

_UNFIT = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:subprocess|multiprocessing|threading|_thread|asyncio|tkinter|curses|webbrowser"
    r"|antigravity|this|turtle|torch|ctypes|signal|pty|socket|resource|mmap|faulthandler|readline|trio|random|secrets"
    r"|uuid|idlelib|test|unittest|pytest)\b",
    re.MULTILINE,
)
"""Imported by files whose functions have no values to assert, but wait, start something or draw; and by tests."""
_TESTS = re.compile(r"(^|[/_])(tests?|testing|conftest|idle_test)([/_.]|$)|^(random|this|antigravity)\.py$")
_SHORTEST, _LONGEST, _LETTERS = 3, 90, 120_000
"""Lines of a function; characters of a file."""
_ERRORS = 2
"""Records of a function that are exceptions, at most: most of them say themselves what is wrong."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="engine.train.bugs.trace", description=__doc__)
    parser.add_argument("shards", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--half", choices=("train", "held"), default="train")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=16_000, help="records in all")
    parser.add_argument("--mutants", type=int, default=28, help="bugs a function that are tried")
    parser.add_argument("--bugs", type=int, default=16, help="records a function, at most")
    parser.add_argument("--unsafe", action="store_true", help="run without a sandbox")
    given = parser.parse_args()
    every = shards.read(given.shards, given.half)
    there = importable(every)
    documents = [each for each in every if (each.package, each.path) in there and fit(each)]
    random.Random(given.seed).shuffle(documents)
    part = given.out.with_suffix(".part")
    done, found = _begun(part)
    count = sum(len(bugs) for _, bugs in found)
    with part.open("a") as file, tempfile.TemporaryDirectory() as folder:
        lay_out(every, Path(folder, "corpus"))
        try:
            runner = Runner(Path(folder), unsafe=given.unsafe)
        except ConfigError as error:
            parser.error(str(error))
        with runner:
            for number, document in enumerate(documents[done:], done):
                if count >= given.most:
                    break
                rng = random.Random(f"{given.seed} {document.path}")
                new = list(records(runner, document, rng, given.mutants, given.bugs))
                found += new
                count += sum(len(bugs) for _, bugs in new)
                file.write("".join(record.line(*each) for each in new) + "\n")
                file.flush()
                if number % 50 == 0:
                    print(f"{number} of {len(documents)} files, {count} records", flush=True)
    record.write(given.out, [record.line(*each) for each in found])
    kinds = Counter(bug.kind for _, bugs in found for bug in bugs)
    told = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
    print(f"{given.out}: {count} records of {len(found)} functions: {told}; {given.out.stat().st_size} bytes")
    return 0


def lay_out(documents: Iterable[Document], folder: Path) -> None:
    """Writes files as packages have them, each package in a folder of its name."""
    for document in documents:
        path = folder / document.package / document.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, "utf-8")


def fit(document: Document) -> bool:
    """Whether a file's functions may be ones that give something for something."""
    text = document.text
    if not document.path.endswith(".py") or "\r" in text or "\f" in text or len(text) > _LETTERS:
        return False
    return _TESTS.search(document.path) is None and _UNFIT.search(text) is None


def records(
    runner: Runner, document: Document, rng: random.Random, mutants: int, most: int = 16
) -> Iterator[tuple[Function, list[Bug]]]:
    """Functions of one file and their bugs, fewer where its process failed or took too long."""
    tree = _tree(document.text)
    lines = document.text.split("\n")
    asked: list[dict[str, Any]] = []
    places: list[Function] = []
    shown = examples(tree) if tree else []
    for node, owner in functions(tree) if tree else ():
        first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)]) - 1
        last = node.end_lineno or 0
        text = "\n".join(lines[first:last])
        # a class of its own name can't be had where only the function is made anew
        usual = _SHORTEST <= last - first <= _LONGEST and "super(" not in text and "__class__" not in text
        sources = groups(node, owner, shown, rng) if usual else []
        if sources:
            places.append(
                Function(document.package, document.path, node.name, first, last, record.check(text))
            )
            place = {"called": node.name, "owner": owner and owner.name, "first": first, "last": last}
            asked.append({"name": str(len(asked)), "groups": sources, **place})
    if not asked:
        return
    given = {"package": document.package, "module": module(document.path), "path": document.path}
    given |= {"text": document.text, "seed": rng.random()}
    meant = {each["function"]: each["meant"] for each in runner.facts(given | {"functions": asked})}
    puts: dict[str, list[str]] = {}
    for each in asked:
        place = places[int(each["name"])]
        if meant.get(each["name"]):
            unit = Unit("\n".join(lines[place.first : place.last]))
            puts[each["name"]] = _mutants(unit, rng, mutants)
            each |= {"meant": meant[each["name"]], "mutants": puts[each["name"]]}
    found: dict[str, list[Bug]] = {}
    for seen in runner.bugs(given | {"functions": [each for each in asked if each["name"] in puts]}):
        name = seen["function"]
        place = places[int(name)]
        bugs = found.setdefault(name, [])
        wanted = seen["kind"] != "error" or sum(each.kind == "error" for each in bugs) < _ERRORS
        if wanted and len(bugs) < most:
            old = "\n".join(lines[place.first : place.last])
            change = record.difference(old, puts[name][seen["mutant"]])
            thought = "" if seen["thought"] == record.seen(seen["failure"]) else seen["thought"]
            bugs.append(Bug(*change, seen["kind"], seen["failure"], thought))
    for name, bugs in found.items():
        yield places[int(name)], bugs


def _mutants(unit: Unit, rng: random.Random, number: int) -> list[str]:
    return list(dict.fromkeys(done.text for _ in range(number) if (done := put(unit, rng, 1))))


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _begun(part: Path) -> tuple[int, list[tuple[Function, list[Bug]]]]:
    """Documents done, and their records; an empty line ends a document."""
    if not part.exists():
        return 0, []
    whole = part.read_text("utf-8")
    # a document without records is an empty line alone
    cut = whole.rfind("\n\n") + 2 if "\n\n" in whole else len(whole) - len(whole.lstrip("\n"))
    whole = whole[:cut]
    part.write_text(whole, "utf-8")
    return sum(not line for line in whole.split("\n")[:-1]), list(record.parsed(whole))


if __name__ == "__main__":
    sys.exit(main())
