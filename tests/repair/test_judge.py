from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskagent.repair.judge import Patience, affected, judge
from deskagent.repair.protocol import Report
from deskagent.repair.types import Baseline, Outcome, Status, TestResult


def report(
    results: dict[str, str], *, ended: bool = True, why: str = "", code: int = 0, current: str = ""
) -> Report:
    made = Report(ended=ended, why=why, code=code, current=current)
    for name, outcome in results.items():
        made.started.add(name)
        made.results[name] = TestResult(name, Outcome(outcome))
    return made


@pytest.mark.parametrize(
    ("results", "failing", "passing", "wanted"),
    [
        ({"a": "passed", "b": "passed"}, ["a"], ["b"], Status.GREEN),
        ({"a": "passed", "b": "failed"}, ["a"], ["b"], Status.RED),
        ({"a": "skipped", "b": "passed"}, ["a"], ["b"], Status.RED),
        ({"a": "passed", "b": "skipped"}, ["a"], ["b"], Status.RED),
        ({"a": "passed"}, ["a"], ["b"], Status.RED),
        ({"a": "passed", "new": "error"}, ["a"], [], Status.RED),
        ({}, ["a"], [], Status.BROKEN),
        ({"f.py::x": "passed"}, ["f.py"], [], Status.GREEN),
        ({"f.py::x": "skipped"}, ["f.py"], [], Status.RED),
        ({"pkg.T.test": "passed"}, ["pkg.T"], [], Status.GREEN),
        ({"x": "passed"}, [""], [], Status.GREEN),
        ({"t[2]": "passed"}, ["t[1]"], [], Status.GREEN),
        ({"t[2]": "passed"}, ["t[1]"], ["t[2]"], Status.RED),
        ({"t[2]": "passed", "t[3]": "passed"}, ["t[1]"], ["t[2]"], Status.GREEN),
        ({"t[3]": "passed"}, ["t[1]"], ["t[2]"], Status.RED),
    ],
)
def test_what_makes_a_run_green(
    results: dict[str, str], failing: list[str], passing: list[str], wanted: Status
) -> None:
    assert judge(report(results), failing, passing).status is wanted


def test_how_a_run_ended_decides_before_what_it_told() -> None:
    assert judge(report({"a": "passed"}, why="timeout", current="b"), ["a"], []).status is Status.TIMEOUT
    crashed = judge(report({"a": "passed"}, ended=False, code=-11, current="b"), ["a"], [])
    assert crashed.status is Status.CRASHED
    assert [r.id for r in crashed.results] == ["a", "b"] and "signal 11" in crashed.results[-1].message


def test_an_error_of_what_could_not_be_imported_means_broken() -> None:
    told = report({})
    told.results["test_a.py"] = TestResult("test_a.py", Outcome.ERROR)
    told.broken.add("test_a.py")
    assert judge(told, ["test_a.py::x"], []).status is Status.BROKEN


def test_flaky_tests_are_not_counted() -> None:
    assert (
        judge(report({"a": "passed", "f": "failed"}), ["a"], ["f"], frozenset({"f"})).status is Status.GREEN
    )


names = st.text("ab[]", min_size=1, max_size=4)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(names, st.sampled_from(["passed", "failed", "skipped"]), min_size=1), st.data())
def test_green_means_that_nothing_known_was_lost(results: dict[str, str], data: st.DataObject) -> None:
    failing = data.draw(st.lists(st.sampled_from(sorted(results)), unique=True))
    passing = [name for name in results if name not in failing]
    green = judge(report(results), failing, passing).status is Status.GREEN
    assert green == all(results[name] == "passed" for name in results)


SOURCE = b"""\
import os

def outer(a):
    def inner(b):
        return b
    return inner(a)

LIMIT = 1

class A:
    def method(self):
        return LIMIT
"""


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (b"return b", b"return -b", {"inner"}),
        (b"return inner(a)", b"return inner(-a)", {"inner", "outer"}),
        (b"return LIMIT", b"return\n        LIMIT", {"method"}),
        (b"LIMIT = 1", b"LIMIT = 2", None),
        (b"def outer(a)", b"def outer(a=1)", None),
        (b"import os", b"import os", set()),
    ],
)
def test_which_tests_an_edit_affects(old: bytes, new: bytes, wanted: set[str] | None) -> None:
    coverage = {
        "": {"a.py": frozenset({1, 3, 8, 10, 11})},
        "inner": {"a.py": frozenset({4, 5, 6})},
        "outer": {"a.py": frozenset({4, 6})},
        "method": {"a.py": frozenset({12})},
        "other": {"b.py": frozenset({5, 12})},
    }
    found = affected(coverage, {"a.py": SOURCE}, {"a.py": SOURCE.replace(old, new)})
    assert found == (None if wanted is None else frozenset(wanted))


def test_an_edit_of_what_is_no_python_affects_all() -> None:
    assert affected({"t": {}}, {"a.py": b"def f(:\n"}, {"a.py": b"def f():\n"}) is None


def test_a_failing_test_gets_the_time_that_passing_ones_took() -> None:
    patience = Patience(floor=0.5, factor=10, most=60)
    results = (
        TestResult("bad", Outcome.FAILED, 0.001),
        TestResult("hung", Outcome.TIMEOUT, 0.0),
        *(TestResult(f"good{n}", Outcome.PASSED, 0.2) for n in range(20)),
        TestResult("slow", Outcome.PASSED, 3.0),
    )
    default, slow = patience.limits(Baseline(results, {}, 1.0))
    assert default == 2.0
    assert slow == {"slow": 30.0}
    assert patience.limits(Baseline((TestResult("bad", Outcome.FAILED),), {}, 1.0))[0] >= 0.5
