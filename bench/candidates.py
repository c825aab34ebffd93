"""Where the right fix stands among the candidates, without trying any: `bench/candidates.py CASE…`.

A case is a folder with `case.json`, `buggy/` and `fixed/` (see bench/cases/README.md), or, with `--pairs`, two
folders that hold files of the same names, before and after, and a test command with `{name}` in it:

    bench/candidates.py bench/cases/*                       # the cases that may be tuned on
    bench/candidates.py --held bench/cases/*                # the others: figures only
    bench/candidates.py --pairs QUIX/python_programs FIXED --test "pytest -q python_testcases/test_{name}.py" QUIX

Suspects come from the tests' real coverage and frames, or, with `--given`, are all statements of the functions
that the fix touches. Prints the rank at which code equal to the fix (as a syntax tree) appears.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import pickle
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from deskagent.repair.localize import localize
from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax, function_of
from deskagent.repair.types import Baseline, Suspect

TURNED = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}


@dataclass
class Case:
    """`project` is the buggy tree; `answers` are sets of fixed files, path → bytes."""

    name: str
    project: Path
    answers: list[Mapping[str, bytes]]
    test: str
    request: str = ""
    held: bool = False
    keep: tuple[str, ...] = field(default_factory=tuple)


class _Plain(ast.NodeTransformer):
    """Docstrings out, `a > b` as `b < a`, loop names of comprehensions numbered: two spellings of one thing are
    equal."""

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        bound = [
            n.id for clause in node.generators for n in ast.walk(clause.target) if isinstance(n, ast.Name)
        ]
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and name.id in bound:
                name.id = f"<{bound.index(name.id)}>"
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        turned = TURNED.get(type(node.ops[0]))
        if len(node.ops) == 1 and turned is not None:
            node.left, node.comparators[0], node.ops[0] = node.comparators[0], node.left, turned()
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        return self.generic_visit(node)


def shape(code: bytes) -> str:
    """What makes two files one: the tree without layout, comments and docstrings."""
    try:
        return ast.dump(_Plain().visit(ast.parse(code)))
    except SyntaxError:
        return code.decode("utf-8", "replace")


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
        if not twin.is_file() or shape(twin.read_bytes()) == shape(file.read_bytes()):
            continue
        rel = twin.relative_to(project).as_posix()
        yield Case(file.stem, project, [{rel: file.read_bytes()}], test.replace("{name}", file.stem))


def baseline_of(case: Case, cache: Path | None) -> Baseline:
    """The tests' results and coverage on the buggy tree."""
    kept = cache / f"{case.name}.pickle" if cache is not None else None
    if kept is not None and kept.is_file():
        return pickle.loads(kept.read_bytes())
    from deskagent.repair.command import TestCommand
    from deskagent.repair.verify import Verifier
    from deskagent.terminal.sandbox import Unconfined

    words = case.test.split()
    args = words[words.index("pytest") + 1 :] if "pytest" in words else words[3:]
    runner = "pytest" if "pytest" in words else "unittest"
    argv = (sys.executable, "-m", runner, *args)
    command = TestCommand(case.test, argv, runner, Path(sys.executable), tuple(args))
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "tree"
        shutil.copytree(case.project, project)
        with Verifier(project, command, sandbox=Unconfined()) as verifier:
            found = verifier.baseline(test_seconds=2.0)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(found))
    return found


def given(case: Case) -> tuple[Suspect, ...]:
    """Every statement of the functions that the first answer changes."""
    found = []
    for rel, after in case.answers[0].items():
        source = SourceFile.read(case.project, rel)
        old, new = source.utf8.splitlines(), after.splitlines()
        first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        tree = Syntax(source)
        node = tree.by_line.get(first + 1)
        function = function_of(node) if node is not None else None
        for statement in tree.statements:
            if function is None or statement.inside(function):
                found.append(Suspect(rel, statement.line, 1.0, ("given",)))
    return tuple(found)


def rank(case: Case, baseline: Baseline, limit: int, use_given: bool) -> tuple[int, int, float, str]:
    """(rank of the fix or 0, candidates seen, seconds, operator)."""
    started = time.perf_counter()
    suspects = given(case) if use_given else localize(case.project, baseline, request=case.request)
    read = {}

    def source(path: str) -> SourceFile:
        if path not in read:
            read[path] = SourceFile.read(case.project, path)
        return read[path]

    wanted = [{path: shape(code) for path, code in answer.items()} for answer in case.answers]
    seen = 0
    stream = iter_candidates(source, suspects, request=case.request, baseline=baseline)
    for candidate in itertools.islice(stream, limit):
        seen += 1
        changed = {edit.path for edit in candidate.edits}
        files = {
            path: shape(source(path).apply([edit for edit in candidate.edits if edit.path == path]))
            for path in changed
        }
        for answer in wanted:
            if all(files.get(path) == text for path, text in answer.items()):
                return seen, seen, time.perf_counter() - started, f"{candidate.operator}: {candidate.note}"
    return 0, seen, time.perf_counter() - started, ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--pairs", nargs=2, metavar=("BUGGY", "FIXED"))
    parser.add_argument("--test", default="pytest -q")
    parser.add_argument("--held", action="store_true", help="the cases set apart; prints figures only")
    parser.add_argument("--given", action="store_true", help="suspects are the fixed functions' statements")
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--cache", type=Path, help="folder to keep baselines in")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.pairs:
        buggy, fixed = map(Path, options.pairs)
        cases = pairs(buggy, fixed, Path(options.paths[0]), options.test)
    else:
        cases = folders(options.paths, options.held)
    ranks: list[int] = []
    for case in cases:
        if options.only and options.only not in case.name:
            continue
        found, seen, seconds, what = rank(
            case, baseline_of(case, options.cache), options.limit, options.given
        )
        ranks.append(found)
        if not options.held:
            print(f"{case.name:32} {found or '-':>5} of {seen:5} {seconds:6.2f} s  {what}", flush=True)
    reached = sorted(r for r in ranks if r)
    within = " ".join(f"{n}:{sum(r <= n for r in reached)}" for n in (1, 5, 10, 25, 50, 100, 200, 400))
    middle = statistics.median(sorted((r or 10**6) for r in ranks)) if ranks else 0
    mean = statistics.fmean(1 / r if r else 0.0 for r in ranks) if ranks else 0.0
    print(
        f"{len(reached)} of {len(ranks)} reached; median rank {middle}; reciprocal {mean:.3f}; within {within}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
