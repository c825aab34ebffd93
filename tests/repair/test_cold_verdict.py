"""A candidate is judged by each test's result where the run names them, not by the exit code alone."""

from deskagent.repair import cold
from deskagent.repair.report import Printed
from deskagent.repair.types import Outcome, Status, TestResult
from deskagent.terminal.types import End, Result


def run(code, *tests, total=0):
    results = tuple(TestResult(name, outcome) for name, outcome in tests)
    result = Result(end=End.EXITED, code=code, seconds=1.0, head=b"", tail=b"", total=total)
    return cold.ColdRun(result, Printed(results, None, None))


def judged(one, failing=("a",), passing=("b",)):
    return cold.judged(one, 1.0, failing, passing, frozenset(), "all").status


def test_all_pass():
    assert judged(run(0, ("a", Outcome.PASSED), ("b", Outcome.PASSED))) is Status.GREEN


def test_a_test_that_is_gone_is_no_success():
    assert judged(run(0, ("b", Outcome.PASSED))) is Status.RED
    assert judged(run(0, ("a", Outcome.PASSED))) is Status.RED


def test_skipping_the_failing_test_is_no_success():
    assert judged(run(0, ("a", Outcome.SKIPPED), ("b", Outcome.PASSED))) is Status.RED


def test_an_exit_code_still_counts():
    assert judged(run(1, ("a", Outcome.PASSED), ("b", Outcome.PASSED))) is Status.RED


def test_where_no_names_are_printed_the_exit_code_decides():
    assert judged(run(0)) is Status.GREEN


def test_of_output_that_was_cut_the_exit_code_decides():
    assert judged(run(0, ("b", Outcome.PASSED), total=1 << 30)) is Status.GREEN
