"""Candidates for one line of a made-up file, as the search would try them."""

from __future__ import annotations

import itertools
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
