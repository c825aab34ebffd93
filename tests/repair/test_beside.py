from __future__ import annotations

import pytest

from deskagent.repair.beside import beside, still
from deskagent.repair.cold import ColdRun
from deskagent.repair.report import Printed
from deskagent.repair.types import Baseline, Outcome, TestResult
from deskagent.terminal.types import End, Result


def run(
    failing: str, passed: int, *, code: int = 1, failed: int | None = None, end: End = End.EXITED
) -> ColdRun:
    """A run in which the tests named by the letters of `failing` fail."""
    results = tuple(TestResult(f"t.py::test_{name}", Outcome.FAILED) for name in failing)
    count = len(failing) if failed is None else failed
    return ColdRun(Result(end, code, 0.1), Printed(results, passed, count))


def ids(names: str) -> frozenset[str]:
    return frozenset(f"t.py::test_{name}" for name in names)


def baseline(failing: str) -> Baseline:
    return Baseline(run(failing, 0).printed.results, {}, 0.1, "pytest")


@pytest.mark.parametrize(
    ("request_text", "before", "others"),
    [
        ("test_a fails", run("abc", 4), "bc"),
        ("t.py::test_a and test_b fail", run("abc", 4), "c"),
        ("nothing named", run("abc", 4), ""),
        ("all of test_a test_b test_c", run("abc", 4), ""),
        ("test_a fails, some not printed", run("abc", 4, failed=5), ""),
        ("test_a fails, and something is interrupted", run("abc", 4, code=2), ""),
        ("test_a fails, but not by the exact command", run("bc", 4), ""),
        ("test_a fails, in time", run("abc", 4, end=End.TIMEOUT), ""),
    ],
)
def test_others_are_told_where_the_run_tells_them_all(request_text, before, others):
    assert beside(request_text, baseline("abc"), before) == ids(others)


@pytest.mark.parametrize(
    ("after", "left"),
    [
        (run("bc", 5), "bc"),
        (run("b", 6), "b"),
        (run("", 7, code=0), ""),  # green: nothing is left
        (run("abc", 4), ""),  # what was asked for fails
        (run("bcd", 4), ""),  # something new fails
        (run("bc", 4), ""),  # what was asked for was skipped, or one that passed is gone
        (run("bc", 5, code=2), ""),
        (run("bc", 5, failed=3), ""),
        (run("bc", 5, end=End.SIGNALED), ""),
    ],
)
def test_what_is_left_is_told_only_where_nothing_else_fails(after, left):
    assert still(run("abc", 4), after, ids("bc")) == tuple(sorted(ids(left)))


def test_nothing_may_be_left_where_all_tests_count():
    assert still(run("abc", 4), run("bc", 5), frozenset()) == ()
