"""python -m engine.train.bugs.trace SHARDS OUT [--half HALF] [--seed N] [--most N] [--mutants N]

Puts bugs into functions that can be run and keeps those that show, with what a test would say. SHARDS: folder of the
corpus; its files are laid out for a while, to be imported. OUT: an xz file of records; OUT's .part has them while they
are made, and a later call with the same arguments goes on from there.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from engine.train import shards
from engine.train.bugs import record
from engine.train.bugs.inputs import functions, groups
from engine.train.bugs.put import put
from engine.train.bugs.record import Record
from engine.train.bugs.said import said
from engine.train.bugs.source import Unit
from engine.train.corpus.files import Document
from engine.train.library import module

_UNSAFE = {
    "os", "shutil", "subprocess", "socket", "tempfile", "ctypes", "multiprocessing", "threading", "asyncio", "http",
    "ftplib", "signal", "mmap", "webbrowser", "tkinter", "pathlib", "smtplib", "urllib", "ssl", "select", "pty",
    "curses", "torch", "numpy", "logging", "io", "glob", "fcntl", "resource", "antigravity", "this", "turtle", "runpy",
    "importlib",
}  # fmt: skip
"""What code that is called with made-up values must not have at hand."""
_OPENS = re.compile(r"\b(?:open|exec|eval|input|__import__|exit|compile)\(|sys\.exit|sys\.std")
_AROUND = 25
_LONGEST = 90
_SECONDS = 240


def main() -> int:
    parser = argparse.ArgumentParser(prog="engine.train.bugs.trace", description=__doc__)
    parser.add_argument("shards", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--half", choices=("train", "held"), default="train")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=6000, help="records in all")
    parser.add_argument("--mutants", type=int, default=30, help="bugs a function")
    given = parser.parse_args()
    every = shards.read(given.shards, given.half)
    documents = [document for document in every if harmless(document)]
    random.Random(given.seed).shuffle(documents)
    part = given.out.with_suffix(".part")
    done, found = _begun(part)
    with part.open("a") as file, tempfile.TemporaryDirectory() as folder:
        lay_out(every, Path(folder))
        for document in documents[done:]:
            if len(found) >= given.most:
                break
            root = Path(folder) / document.package
            new = list(records(root, document, random.Random(f"{given.seed} {document.path}"), given.mutants))
            found += new
            file.write("".join(map(record.line, new)) + "\n")
            file.flush()
    record.write(given.out, found[: given.most])
    print(f"{given.out}: {len(found)} records of {len({each.function for each in found})} functions")
    return 0


def lay_out(documents: Iterable[Document], folder: Path) -> None:
    """Writes files as packages have them, each package in a folder of its name."""
    for document in documents:
        path = folder / document.package / document.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text, "utf-8")


def harmless(document: Document) -> bool:
    """Whether a file has nothing at hand that could do harm when it is called with anything."""
    if not document.path.endswith(".py") or _OPENS.search(document.text):
        return False
    try:
        tree = ast.parse(document.text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    for node in ast.walk(tree):
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            named = [node.module or ""]
        if any(name.split(".")[0] in _UNSAFE for name in named):
            return False
    return True


def records(root: Path, document: Document, rng: random.Random, mutants: int) -> Iterator[Record]:
    """Records of one file, fewer where its process failed or took too long. root: what it is imported from."""
    lines = document.text.split("\n")
    asked: list[dict[str, Any]] = []
    puts: list[list[tuple[str, int, int]]] = []
    for node, method in functions(ast.parse(document.text)):
        first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)]) - 1
        last = node.end_lineno or 0
        sources = groups(node, rng, method=method)
        if not sources or not 3 <= last - first <= _LONGEST:
            continue
        unit = Unit("\n".join(lines[first:last]))
        texts = {done.text for _ in range(mutants) if (done := put(unit, rng, 1))}
        puts.append([(text, first, last) for text in sorted(texts)])
        whole = ["\n".join([*lines[:first], text, *lines[last:]]) for text, _, _ in puts[-1]]
        asked.append({"name": node.name, "groups": sources, "mutants": whole})
    for seen in _seen(root, document, asked):
        at = next(
            number
            for number, each in enumerate(asked)
            if each["mutants"] and each["name"] == seen["function"]
        )
        text, first, last = puts[at][seen["mutant"]]
        failure, thought = said(seen, document.path, rng)
        if str(root) in failure:
            continue  # tells where it was run, which is nowhere else
        low = max(first - _AROUND, 0)
        around = lines[low : last + _AROUND]
        yield Record(
            document.package,
            document.path,
            seen["function"],
            around,
            first - low,
            last - low,
            text,
            failure,
            thought,
        )


def _seen(root: Path, document: Document, asked: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    names = [each["name"] for each in asked]
    # a name that several classes have couldn't be told apart
    once = [each for each in asked if names.count(each["name"]) == 1]
    if not once:
        return
    given = {
        "root": str(root),
        "module": module(document.path),
        "path": document.path,
        "text": document.text,
    }
    given |= {"functions": once}
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(Path(__file__).with_name("child.py"))],
            input=json.dumps(given).encode(), capture_output=True, timeout=_SECONDS, cwd="/",
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        told = late.stdout or b""
    else:
        told = done.stdout
    for line in told.decode("utf-8", "replace").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return  # cut where the process was ended


def _begun(part: Path) -> tuple[int, list[Record]]:
    """Documents done, and their records; an empty line ends a document."""
    if not part.exists():
        return 0, []
    whole = part.read_text("utf-8")
    whole = whole[: whole.rfind("\n\n") + 2] if "\n\n" in whole else whole if whole.strip() == "" else ""
    part.write_text(whole, "utf-8")
    return sum(not line for line in whole.split("\n")[:-1]), list(record.parsed(whole))


if __name__ == "__main__":
    sys.exit(main())
