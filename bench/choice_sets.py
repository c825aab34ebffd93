"""Where lists to choose from come of: QuixBugs, fixes out of real histories, bugs put into held-out packages.

Each set is a list of names and makers, so that what was made already needn't be made again.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from candidates import baseline_of
from choices import is_fix
from known_fixes import Case, pairs

from deskagent.repair.localize import localize
from deskagent.repair.model.judge import failure_of
from deskagent.repair.model.measure import suites
from deskagent.repair.model.measure.choices import SIZE, Choice, choose, fix_of
from deskagent.repair.model.measure.suites import LARGEST, Fix
from deskagent.repair.rank import iter_ranked
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax

if TYPE_CHECKING:
    from engine.train.corpus.files import Document

LIMIT = 1500
"""Candidates of a program among which the right one is looked for."""
LOCK = Path(__file__).parent.parent / "engine" / "train" / "corpus.lock"
Maker = Callable[[], Choice | None]
"""Makes the choice of one case, None where it makes none."""


def quixbugs(folder: Path, cache: Path | None, seed: int) -> Iterator[tuple[str, Maker]]:
    """folder: an exported QuixBugs work tree. cache: where the results of tests are kept."""
    test = "pytest -q python_testcases/test_{name}.py"
    for case in pairs(folder / "python_programs", folder / "correct_python_programs", folder, test):
        if not case.name.endswith("_test") and case.name != "node":
            yield case.name, partial(of_case, case, cache, seed)


def of_case(case: Case, cache: Path | None, seed: int, fewest: int = SIZE - 1) -> Choice | None:
    """The candidates that a search would try. None where the fix is not one edit of one file that can be shown."""
    answers = [next(iter(answer.items())) for answer in case.answers if len(answer) == 1]
    if not answers:
        return None
    (path, after), baseline = answers[0], baseline_of(case, cache)
    source = SourceFile.read(case.project, path)
    suspects = localize(case.project, baseline, request=case.request)
    stream = iter_ranked(
        lambda name: SourceFile.read(case.project, name), suspects, request=case.request, baseline=baseline
    )
    rights = [is_fix(SourceFile.read(case.project, name).utf8, name, code) for name, code in answers]
    return choose(
        case.name, stream, lambda candidate: any(right(candidate) for right in rights), fix_of(Syntax(source), after),
        random.Random(f"{seed} {case.name}"), LIMIT, fewest,
        group=case.name, failure=failure_of(baseline), request=case.request,
    )  # fmt: skip


def mined(file: Path, count: int, seed: int, seen: bool = False) -> Iterator[tuple[str, Maker]]:
    """`count` fixes at random, those that give no choice among them. seen: of packages that the corpus is of, instead
    of the others."""
    for fix in sample(file, count, seed, seen):
        yield fix.name, partial(of_fix, fix, seed)


def sample(file: Path, count: int, seed: int, seen: bool = False) -> list[Fix]:
    """As `mined`, the fixes themselves: of each repository as many as of any, as far as it has them."""
    known = _known()
    by_group: dict[str, list[Fix]] = {}
    for fix in suites.fixes(file):
        name = fix.group.replace("+", "/").rpartition("/")[2].lower().replace("_", "-")
        if (name in known) == seen and len(fix.before) <= LARGEST and fix.path.endswith(".py"):
            by_group.setdefault(fix.group, []).append(fix)
    rng = random.Random(seed)
    for several in by_group.values():
        rng.shuffle(several)
    found: list[Fix] = []
    while len(found) < count and by_group:
        for group in sorted(by_group):
            found.append(by_group[group].pop())
            if not by_group[group]:
                del by_group[group]
    return found[:count]


def of_fix(fix: Fix, seed: int) -> Choice | None:
    """The candidates of the statements near the fix, all equally suspicious."""
    try:
        right = is_fix(fix.before.encode(), fix.path, fix.after.encode())
        return suites.choice_of(fix, seed, right)
    except (SyntaxError, ValueError, RecursionError):
        return None


def synthetic(documents: list[Document], count: int, seed: int) -> Iterator[tuple[str, Maker]]:
    """Bugs put into documents at random, those that give no choice among them."""
    fit = [each for each in documents if each.language == "python" and len(each.text) <= LARGEST]
    order = random.Random(seed).sample(range(len(fit)), len(fit))
    for number in range(count):
        document = fit[order[number % len(order)]]
        name = f"{document.package}/{document.path}:{number}"
        yield name, partial(_of_document, document, name, seed)


def _of_document(document: Document, name: str, seed: int) -> Choice | None:
    """One bug put in; None where this draw finds no place for one."""
    from engine.train.bugs.makers import broken

    made = broken(document, random.Random(f"{seed} {name}"), 1) if document.language == "python" else None
    if made is None:
        return None
    part, _, done = made
    lines = [*part.lines[: part.first], *done.text.split("\n"), *part.lines[part.last :]]
    return of_fix(Fix(name, document.path, "\n".join(lines), document.text, document.package), seed)


def _known() -> set[str]:
    """Names of the packages that the corpus is of."""
    return {each["name"].lower() for each in tomllib.loads(LOCK.read_text("utf-8"))["package"]}
