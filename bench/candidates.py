"""Where the right fix stands among the candidates, without trying any: `bench/candidates.py CASE…`.

A case is a folder with `case.json`, `buggy/` and `fixed/` (see bench/cases/README.md), or, with `--pairs`, two
folders that hold files of the same names, before and after, and a test command with `{name}` in it:

    bench/candidates.py bench/cases/*                       # the cases that may be tuned on
    bench/candidates.py --held bench/cases/*                # the others: figures only
    bench/candidates.py --pairs QUIX/python_programs FIXED --test "pytest -q python_testcases/test_{name}.py" QUIX
    bench/candidates.py --real FILE --mirror DIR --python PYTHON --table OUT.md     # fixes that bench/mine found

Suspects come from the tests' real coverage and frames, or, with `--given`, are all statements of the functions
that the fix touches. Prints the rank at which code equal to the fix (as a syntax tree) appears, and where the first
line that the fix changes stands among the suspects.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import os
import pickle
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from known_fixes import Case, folders, histories, pairs
from region import Region

from deskagent.repair.localize import localize
from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax, function_of
from deskagent.repair.types import Baseline, Suspect


def baseline_of(case: Case, cache: Path | None) -> Baseline:
    """The tests' results and coverage on the buggy tree."""
    kept = cache / f"{case.name}.pickle" if cache is not None else None
    if kept is not None and kept.is_file():
        return pickle.loads(kept.read_bytes())
    from deskagent.repair.command import resolve
    from deskagent.repair.verify import Verifier
    from deskagent.terminal.sandbox import Unconfined

    path = f"{case.python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "tree"
        shutil.copytree(case.project, project)
        command = resolve(case.test, project, {**os.environ, "PATH": path})
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


def standing(case: Case, suspects: Sequence[Suspect]) -> int:
    """The rank among the suspects of the first that the first answer changes or stands next to, 0 if none is."""
    touched: set[tuple[str, int]] = set()
    for rel, after in case.answers[0].items():
        source = SourceFile.read(case.project, rel)
        old, tree = source.utf8.splitlines(), Syntax(source)
        blocks = difflib.SequenceMatcher(None, old, after.splitlines(), autojunk=False).get_opcodes()
        for tag, first, last, *_ in blocks:
            if tag != "equal":
                # what is put in stands before or after a statement
                lines = range(first, last + 2) if tag == "insert" else range(first + 1, last + 1)
                touched |= {
                    (rel, node.line) for line in lines if (node := tree.by_line.get(line)) is not None
                }
                touched |= {(rel, line) for line in lines}
    return next((i for i, suspect in enumerate(suspects, 1) if (suspect.path, suspect.line) in touched), 0)


def suspects_of(case: Case, baseline: Baseline, use_given: bool) -> tuple[Suspect, ...]:
    return given(case) if use_given else localize(case.project, baseline, request=case.request)


def rank(
    case: Case, baseline: Baseline, limit: int, suspects: Sequence[Suspect]
) -> tuple[int, int, float, str]:
    """(rank of the fix or 0, candidates seen, seconds, operator)."""
    started = time.perf_counter()
    read = {}

    def source(path: str) -> SourceFile:
        if path not in read:
            read[path] = SourceFile.read(case.project, path)
        return read[path]

    wanted = [
        {path: Region.of(source(path).utf8, code) for path, code in answer.items()} for answer in case.answers
    ]
    seen = 0
    stream = iter_candidates(source, suspects, request=case.request, baseline=baseline)
    for candidate in itertools.islice(stream, limit):
        seen += 1
        for answer in wanted:
            edits = {path: [edit for edit in candidate.edits if edit.path == path] for path in answer}
            if sum(map(len, edits.values())) == len(candidate.edits) and all(
                region.shape(source(path).utf8, edits[path]) == region.wanted
                for path, region in answer.items()
            ):
                return seen, seen, time.perf_counter() - started, f"{candidate.operator}: {candidate.note}"
    return 0, seen, time.perf_counter() - started, ""


def row(case: Case, facts: dict[str, Any], found: int, seen: int, place: int, count: int, what: str) -> str:
    """What a person reads of a case out of a history, in Markdown: where its edit stands, and the edit."""
    rel, after = next(iter(case.answers[0].items()))
    before = SourceFile.read(case.project, rel).utf8
    texts = [data.decode("utf-8", "replace").splitlines() for data in (before, after)]
    diff = "\n".join(list(difflib.unified_diff(texts[0], texts[1], n=3, lineterm=""))[2:])
    reached = f"reached at rank {found} by {what}" if found else f"not among {seen}"
    suspect = f"suspect {place} of {count}" if place else f"none of the {count} suspects"
    return (
        f"## {case.name}: {reached}; {suspect}\n\n{facts['repo']} {facts['fix'][:10]}, {rel}: {facts['subject']}\n\n"
        f"```diff\n{diff}\n```\n\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--pairs", nargs=2, metavar=("BUGGY", "FIXED"))
    parser.add_argument("--test", default="pytest -q")
    parser.add_argument("--real", type=Path, action="append", metavar="FILE", help="facts of real fixes")
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="bare git directories for --real")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter for --real")
    parser.add_argument("--table", type=Path, metavar="OUT", help="a row with the diff for each of --real")
    parser.add_argument("--held", action="store_true", help="the cases set apart; prints figures only")
    parser.add_argument("--given", action="store_true", help="suspects are the fixed functions' statements")
    parser.add_argument("--limit", type=int, default=2000)
    parser.add_argument("--cache", type=Path, help="folder to keep baselines in")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    cases: Iterable[tuple[Case, dict[str, Any]]]
    if options.real:
        if not options.mirror:
            parser.error("--real needs --mirror")
        cases = histories(options.real, options.mirror, options.python.absolute(), options.only)
    elif not options.paths:
        parser.error("name cases, or --real")
    elif options.pairs:
        buggy, fixed = map(Path, options.pairs)
        cases = ((case, {}) for case in pairs(buggy, fixed, Path(options.paths[0]), options.test))
    else:
        cases = ((case, {}) for case in folders(options.paths, options.held))
    ranks: list[int] = []
    with contextlib.ExitStack() as stack:
        table = stack.enter_context(options.table.open("w", encoding="utf-8")) if options.table else None
        for case, facts in cases:
            if options.only not in case.name or case.held != options.held:
                continue
            baseline = baseline_of(case, options.cache)
            suspects = suspects_of(case, baseline, options.given)
            found, seen, seconds, what = rank(case, baseline, options.limit, suspects)
            ranks.append(found)
            place = standing(case, suspects)
            if table is not None and facts:
                table.write(row(case, facts, found, seen, place, len(suspects), what))
                table.flush()
            if not options.held:
                print(
                    f"{case.name:32} {found or '-':>5} of {seen:5} {seconds:6.2f} s  "
                    f"suspect {place or '-':>3} of {len(suspects):3}  {what}",
                    flush=True,
                )
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
