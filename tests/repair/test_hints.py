from deskagent.repair.hints import read_hints
from deskagent.repair.types import Baseline, Outcome, TestResult

MESSAGE = """
    def test_total():
>       assert total([1, 2]) == "a-b"
E       AssertionError: assert 42 == 'a-b'
src/deep.py:7: KeyError
"""


def hints(
    message: str,
    request: str = "",
    outcome: Outcome = Outcome.FAILED,
    name: str = "test_x.py::test_merge_rows",
):
    return read_hints(request, Baseline((TestResult(name, outcome, 0.0, message),), {}, 1.0))


def test_names_literals_and_exceptions():
    found = hints(MESSAGE, "the `split_name` function drops 7 rows")
    assert {"split_name", "rows"} <= found.request and "the" not in found.request
    assert {"total", "merge_rows"} <= found.message
    assert "deep" not in found.message, "a place in a traceback is no name"
    assert {"a-b", "42", "1", "7"} <= found.literals
    assert {"AssertionError", "KeyError"} <= found.exceptions


def test_what_errors_say():
    found = hints("AttributeError: 'NoneType' object has no attribute 'next'")
    assert found.none_attributes == {"next"} and "next" in found.missing
    found = hints("NameError: name 'cuont' is not defined. Did you mean: 'count'?")
    assert found.missing == {"cuont"} and found.meant == {"count"}
    assert hints("", outcome=Outcome.TIMEOUT).exceptions == {"Timeout"}
    assert hints("pkg.errors.ShapeError: no").exceptions == {"ShapeError"}


def test_no_baseline_and_rubbish():
    assert read_hints("", None).request == frozenset()
    assert hints("\0\ud800 '" * 20_000 + "\x1b[0m").exceptions == frozenset()
