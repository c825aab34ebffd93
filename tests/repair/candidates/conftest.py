"""Candidates for one line of a made-up file, as the search would try them."""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Callable, Iterator

import pytest

from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult


@pytest.fixture(scope="session")
def made() -> Callable[..., Iterator[tuple[str, str]]]:
    """(text, suspected line, the request, the failing test's message, limit) → (the whole file after, operator), by
    rank."""

    def run(text: str, line: int, request: str = "", message: str = "", limit: int = 100):
        source = SourceFile.from_bytes("a.py", text.encode())
        failing = TestResult("t::test_it", Outcome.FAILED, message=message)
        baseline = Baseline((failing,), {}, 0.1, "pytest")
        stream = iter_candidates(
            lambda _: source, [Suspect("a.py", line, 1.0)], request=request, baseline=baseline
        )
        for candidate in itertools.islice(stream, limit):
            yield source.apply(candidate.edits).decode(), candidate.operator

    return run


_HEAD = "import pytest\nfrom mod import *\nfrom mod import Bad\n\n"


def _lines(text: str) -> str:
    """The code of a row: `|` ends a line, `>` is a step in."""
    out = []
    for line in text.split("|"):
        bare = line.lstrip(">")
        out.append("    " * (len(line) - len(bare)) + bare)
    return "\n".join(out) + "\n"


def _rank_of(code: str, test: str, came: str, fixed: str, limit: int = 400) -> int:
    """Where the mended code stands among the candidates, 0 for nowhere."""
    before, after = _lines(code), ast.dump(ast.parse(_lines(fixed)))
    body = textwrap.indent(_lines(test), "    ")
    tests = f"{_HEAD}def test_it(self):\n{body}"
    message = f"    def test_it(self):\n>   {body.lstrip()}E       {came}\n\ntest_mod.py:3: Error\n"
    files = {"mod.py": before, "test_mod.py": tests}

    def read(path: str) -> SourceFile:
        return SourceFile(path, files[path].encode(), "utf-8", b"", files[path])

    baseline = Baseline((TestResult("test_mod.py::test_it", Outcome.FAILED, 0.0, message),), {}, 1.0)
    rows = [i for i, line in enumerate(before.splitlines(), 1) if line.strip()]
    suspects = [Suspect("mod.py", line, 1.0) for line in rows]
    found = iter_candidates(read, suspects, baseline=baseline)
    for at, candidate in zip(range(1, limit + 1), found, strict=False):
        text = read("mod.py").apply(list(candidate.edits)).decode()
        if ast.dump(ast.parse(text)) == after:
            return at
    return 0


@pytest.fixture(scope="session")
def rank_of() -> Callable[..., int]:
    """(code, the failing test's body, what it ended with, the right code) → its place, 0 for none, by rank."""
    return _rank_of
