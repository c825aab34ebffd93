"""Bugs whose fix is known, as candidates.py takes them: from folders with a case.json, from pairs of folders, from real
histories."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import adapters
from judge import same_code


@dataclass
class Case:
    """`project` is the buggy tree; `answers` are sets of fixed files, path → bytes."""

    name: str
    project: Path
    answers: Sequence[Mapping[str, bytes]]
    test: str
    request: str = ""
    held: bool = False
    python: Path = Path(sys.executable)


def folders(paths: list[str], held: bool) -> Iterator[Case]:
    """Cases from folders with a case.json."""
    for path in map(Path, paths):
        facts = path / "case.json"
        if not facts.is_file():
            continue
        found = json.loads(facts.read_text())
        if (found.get("set") == "held") != held:
            continue
        answers = [
            {file.relative_to(answer).as_posix(): file.read_bytes() for file in answer.rglob("*.py")}
            for answer in sorted(path.glob("fixed*"))
        ]
        yield Case(path.name, path / "buggy", answers, found["test"], found.get("request", ""), held)


def pairs(buggy: Path, fixed: Path, project: Path, test: str) -> Iterator[Case]:
    """Cases from two folders with files of the same names."""
    for file in sorted(fixed.glob("*.py")):
        twin = buggy / file.name
        if not twin.is_file() or same_code(file.name, twin.read_bytes(), file.read_bytes()):
            continue
        rel = twin.relative_to(project).as_posix()
        yield Case(file.stem, project, [{rel: file.read_bytes()}], test.replace("{name}", file.stem))


def histories(
    files: list[Path], mirror: Path, python: Path, only: str
) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Cases out of real histories with their facts, each tree gone when the next is asked for."""
    for facts in itertools.chain.from_iterable(map(adapters.read_real, files)):
        if only not in facts["name"]:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            real = adapters.real(facts, mirror, Path(scratch))
            held = facts.get("set") == "held"
            yield (
                Case(real.name, real.trees[0], real.answers, real.test, real.request, held, python=python),
                facts,
            )
