"""Makes cases out of a git history: `bench/mine REPO --out FILE [--mirror DIR] [--limit N]`.

Takes commits, the newest first, that change one hunk of at most five lines in one Python file that is no test,
and that add or change tests. Kept are those where a test fails on the parent with the new tests in it and passes
on the commit. One JSON line a case, to be measured by `bench/repair --real FILE --mirror DIR`:

    name, repo, parent, fix, date, subject, source, test_files, fail_to_pass, pass_to_pass (count), added,
    removed, kind

Goes on where it was stopped: FILE.seen names every commit that was looked at, and why it was left out.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).resolve().parent))

from adapters import export, git, git_dir, test_command
from tests_of import TestsTimedOut, bad, run_tests

MOST_LINES = 5
_NOT_SOURCE = ("docs/", "doc/", "examples/", "benchmarks/", "setup.py", "noxfile.py")


@dataclass(frozen=True)
class Commit:
    """A commit that may be a fix: its numbers of lines and the files it touches."""

    fix: str
    parent: str
    date: str
    subject: str
    source: str
    test_files: tuple[str, ...]
    added: int
    removed: int


class LeftOut(Exception):
    """Why a commit makes no case."""


def is_test(path: str) -> bool:
    """Whether a path is a test module or lies in a folder of tests."""
    pure = PurePosixPath(path)
    folders = {part.lower() for part in pure.parts[:-1]}
    name = pure.name
    return (
        bool(folders & {"test", "tests", "testing"}) or name.startswith("test_") or name.endswith("_test.py")
    )


def commits(directory: Path) -> Iterator[Commit]:
    """Commits whose numbers of lines fit, the newest first; hunks are counted later, for they cost more."""
    form = "%x00%H%x01%P%x01%cs%x01%s"
    log = git(directory, "log", "--no-merges", "--no-renames", "--numstat", f"--format={form}", "HEAD")
    for record in log.decode("utf-8", "replace").split("\0")[1:]:
        head, _, rest = record.partition("\n")
        fix, parents, date, subject = head.split("\x01", 3)
        if len(parents.split()) != 1:
            continue
        files = [line.split("\t") for line in rest.splitlines() if line.count("\t") == 2]
        python = [(added, removed, path) for added, removed, path in files if path.endswith(".py")]
        sources = [entry for entry in python if not is_test(entry[2])]
        tests = tuple(path for _, _, path in python if is_test(path))
        if len(sources) != 1 or not tests or sources[0][2].startswith(_NOT_SOURCE):
            continue
        added, removed = int(sources[0][0]), int(sources[0][1])
        if 0 < max(added, removed) <= MOST_LINES:
            yield Commit(fix, parents, date, subject, sources[0][2], tests, added, removed)


def kind_of(before: bytes, after: bytes, commit: Commit) -> str:
    """What sort of edit it is: insert, remove, string (only string tokens differ) or replace."""
    if not commit.removed:
        return "real-insert"
    if not commit.added:
        return "real-remove"
    try:
        one, other = (
            [t[:2] for t in tokenize.tokenize(io.BytesIO(data).readline)] for data in (before, after)
        )
    except (tokenize.TokenError, SyntaxError):
        return "real-replace"
    strings = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    if len(one) == len(other) and all(
        a == b or (a[0] == b[0] and a[0] in strings) for a, b in zip(one, other, strict=True)
    ):
        return "real-string"
    return "real-replace"


def touched_tests(before: bytes, after: bytes) -> set[str]:
    """Names of the test functions that are new or changed; empty where only other lines are."""
    found = []
    for data in (before, after):
        try:
            nodes = [node for node in ast.walk(ast.parse(data)) if isinstance(node, ast.FunctionDef)]
        except (SyntaxError, ValueError):
            return set()
        found.append({(node.name, ast.dump(node)) for node in nodes if node.name.startswith("test")})
    return {name for name, _ in found[1] - found[0]}


def case_of(commit: Commit, repo: str, directory: Path, tree: Path, options: argparse.Namespace) -> dict:
    """The facts of the case that `commit` makes; LeftOut where it makes none. `tree` is an empty folder."""
    diff = git(directory, "diff", "-U0", "--no-ext-diff", commit.parent, commit.fix, "--", commit.source)
    if len(re.findall(rb"^@@ ", diff, re.MULTILINE)) != 1:
        raise LeftOut("several hunks")
    present = git(directory, "ls-tree", "-r", "--name-only", commit.fix, *commit.test_files).decode().split()
    modules = [
        path
        for path in present
        if path.endswith(".py") and PurePosixPath(path).name not in ("__init__.py", "conftest.py")
    ]
    if not modules:
        raise LeftOut("no test module")
    export(directory, commit.parent, tree)
    touched: set[str] = set()
    for path in present:
        now = git(directory, "show", f"{commit.fix}:{path}")
        touched |= touched_tests((tree / path).read_bytes() if (tree / path).is_file() else b"", now)
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(now)
    source = tree / commit.source
    if not source.is_file():
        raise LeftOut("a new file")
    before, after = source.read_bytes(), git(directory, "show", f"{commit.fix}:{commit.source}")
    command = test_command(modules)

    def run(data: bytes, *only: str) -> dict[str, str]:
        source.write_bytes(data)
        return run_tests(tree, command, seconds=options.seconds, python=options.python, only=only)

    # most commits end here, so the few tests that the commit touches go before all of them
    if touched and not bad(run(before, "-k", " or ".join(sorted(touched)))):
        raise LeftOut("nothing fails before")
    old = run(before)
    failing = bad(old)
    if not failing:
        raise LeftOut("nothing fails before")
    new = run(after)
    fixed = sorted(test for test in failing if new.get(test) == "passed")
    if not fixed:
        raise LeftOut("nothing that failed passes after" if new else "no test runs")
    if bad(run(before)) != failing:
        raise LeftOut("the tests are flaky")
    return {
        "name": f"{repo.split('/')[-1]}-{commit.fix[:8]}",
        "repo": repo,
        "parent": commit.parent,
        "fix": commit.fix,
        "date": commit.date,
        "subject": commit.subject,
        "source": commit.source,
        "test_files": sorted(modules),
        "fail_to_pass": fixed,
        "pass_to_pass": sum(
            old.get(test) == "passed" for test, outcome in new.items() if outcome == "passed"
        ),
        "added": commit.added,
        "removed": commit.removed,
        "kind": kind_of(before, after, commit),
    }


def mine(repo: str, directory: Path, options: argparse.Namespace) -> Counter[str]:
    """Appends cases to `options.out` until there are `options.limit`; how many commits ended how."""
    seen_file = options.out.with_name(options.out.name + ".seen")
    seen = set()
    if seen_file.is_file():
        seen = {line.split(" ", 1)[0] for line in seen_file.read_text("utf-8").splitlines()}
    made = 0
    if options.out.is_file():
        made = sum(json.loads(line)["repo"] == repo for line in options.out.read_text("utf-8").splitlines())
    ended: Counter[str] = Counter()
    for commit in commits(directory):
        if made >= options.limit:
            break
        if commit.fix in seen:
            continue
        with tempfile.TemporaryDirectory(prefix="bench-mine-") as scratch:
            try:
                facts = case_of(commit, repo, directory, Path(scratch) / "tree", options)
            except TestsTimedOut:
                why = "too slow"
            except (LeftOut, RuntimeError, OSError) as error:
                why = str(error).splitlines()[0]
            else:
                why = "case"
                made += 1
                with options.out.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(facts, ensure_ascii=False) + "\n")
        with seen_file.open("a", encoding="utf-8") as out:
            out.write(f"{commit.fix} {why}\n")
        ended[why] += 1
        print(f"{commit.date} {commit.fix[:8]} {why}: {commit.subject[:70]}", file=sys.stderr, flush=True)
    return ended


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "repo", metavar="REPO", help="a git directory or work tree, or owner/name with --mirror"
    )
    parser.add_argument("--mirror", type=Path, metavar="DIR", help="where bare git directories lie")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="cases are appended here")
    parser.add_argument(
        "--limit", type=int, default=10, help="cases of this repository (default %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="limit of a test run (default %(default)s)"
    )
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the tests' packages")
    options = parser.parse_args()
    os.nice(10)
    path = Path(options.repo)
    if (path / ".git").is_dir():
        directory, repo = (path / ".git").resolve(), path.resolve().name
    elif (path / "HEAD").is_file():
        directory, repo = path.resolve(), path.resolve().name
    elif options.mirror:
        directory, repo = git_dir(options.repo, options.mirror), options.repo
    else:
        parser.error(f"{options.repo} is no git directory; --mirror says where owner/name lies")
    ended = mine(repo, directory, options)
    for why, count in ended.most_common():
        print(f"{count:>5} {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
