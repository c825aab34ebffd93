"""Where lists to choose from come of: QuixBugs, fixes out of real histories, bugs put into held-out packages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from candidates import baseline_of
from choices import Choice, choose, difference, fix_of, is_fix
from known_fixes import Case, histories, pairs
from region import Region

from deskagent.repair.localize import localize
from deskagent.repair.model.judge import failure_of
from deskagent.repair.rank import Ranked, iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Suspect

if TYPE_CHECKING:
    from engine.train.corpus.files import Document

LIMIT = 1500
"""Candidates among which the right one is looked for."""


@dataclass(frozen=True)
class Bug:
    """A file with a bug, in memory. lines: 1-based, of the part that the bug was put into."""

    path: str
    before: bytes
    after: bytes
    lines: range
    kinds: tuple[str, ...]


def quixbugs(folder: Path, cache: Path | None, seed: int) -> Iterator[Choice]:
    """folder: an exported QuixBugs work tree."""
    test = "pytest -q python_testcases/test_{name}.py"
    for case in pairs(folder / "python_programs", folder / "correct_python_programs", folder, test):
        if not case.name.endswith("_test") and case.name != "node":
            yield from of_case(case, cache, seed)


def mined(files: list[Path], mirror: Path, python: Path, cache: Path | None, seed: int) -> Iterator[Choice]:
    for case, _ in histories(files, mirror, python, ""):
        if not case.held:
            yield from of_case(case, cache, seed)


def of_case(case: Case, cache: Path | None, seed: int) -> Iterator[Choice]:
    """One choice, or none where the fix is not one edit of one file that can be shown."""
    answer = case.answers[0]
    if len(answer) != 1:
        return
    (path, after), baseline = next(iter(answer.items())), baseline_of(case, cache)
    source = SourceFile.read(case.project, path)
    suspects = localize(case.project, baseline, request=case.request)
    stream = iter_ranked(
        lambda name: SourceFile.read(case.project, name), suspects, request=case.request, baseline=baseline
    )
    right = is_fix(source.utf8, path, Region.of(source.utf8, after))
    made = choose(
        case.name, stream, right, fix_of(Syntax(source), after), random.Random(f"{seed} {case.name}"), LIMIT,
        failure_of(baseline), case.request,
    )  # fmt: skip
    if made is not None:
        yield made


def synthetic(documents: list[Document], count: int, seed: int) -> Iterator[Choice]:
    """Up to `count`, of documents at random."""
    rng = random.Random(seed)
    left = count
    for document in rng.sample(documents, len(documents)):
        bug = put_bug(document, rng)
        made = of_bug(bug, rng, LIMIT) if bug is not None else None
        if made is not None:
            yield made
            left -= 1
        if not left:
            return


def put_bug(document: Document, rng: random.Random) -> Bug | None:
    """A document with one bug put in; None where this draw finds no place for one."""
    from engine.train.bugs.makers import broken

    made = broken(document, rng, 1) if document.language == "python" else None
    if made is None:
        return None
    part, _, done = made
    lines = [*part.lines[: part.first], *done.text.split("\n"), *part.lines[part.last :]]
    rows = range(part.first + 1, part.first + 1 + done.text.count("\n") + 1)
    return Bug(document.path, "\n".join(lines).encode(), document.text.encode(), rows, done.kinds)


def of_bug(bug: Bug, rng: random.Random, limit: int) -> Choice | None:
    """The candidates of the statements near the bug, all equally suspicious, and the mend."""
    source = SourceFile.from_bytes(bug.path, bug.before)
    syntax = Syntax(source)
    stream = iter_ranked(lambda _: source, near(bug, syntax))
    right = is_fix(bug.before, bug.path, Region.of(bug.before, bug.after))
    return choose(
        f"{bug.path}:{bug.lines[0]}", _same(stream, syntax), right, fix_of(syntax, bug.after), rng, limit
    )


def near(bug: Bug, syntax: Syntax, around: int = 12) -> list[Suspect]:
    """Statements of the part within so many lines of the bug, the mended ones among them."""
    edit = difference(bug.path, bug.before, bug.after)
    row = bug.before.count(b"\n", 0, edit.start) + 1
    lines = [line for line in bug.lines if abs(line - row) <= around and line in syntax.by_line]
    return [
        Suspect(bug.path, line, 1.0) for line in dict.fromkeys(syntax.by_line[line].line for line in lines)
    ]


def _same(stream: Iterator[Ranked], syntax: Syntax) -> Iterator[Ranked]:
    """The tree that is there already shows the same as the one that the candidates come from."""
    return (Ranked(ranked.value, ranked.candidate, syntax) for ranked in stream)


def facts_of(choice: Choice) -> dict[str, Any]:
    return {"name": choice.name, "rank": choice.rank, "right": choice.right}
