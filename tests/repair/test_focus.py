from deskagent.repair.focus import asked_for
from deskagent.repair.types import Baseline, Outcome, TestResult

ONE, TWO, GOOD = (
    "tests/test_a.py::TestA::test_one[x]",
    "tests/test_a.py::test_two",
    "tests/test_a.py::test_three",
)


def baseline():
    results = [TestResult(one, Outcome.FAILED) for one in (ONE, TWO)] + [TestResult(GOOD, Outcome.PASSED)]
    return Baseline(tuple(results), {}, 1.0)


def failing(request):
    found = asked_for(request, baseline())
    assert found.passing == baseline().passing
    return [result.id for result in found.failing]


def test_tests_that_the_request_names_stand_for_all():
    assert failing(f"Failing: {ONE}") == [ONE]
    assert failing("`test_two` fails") == [TWO]
    assert failing("please repair test_one, and test_two") == [ONE, TWO]


def test_all_count_where_none_is_named():
    assert failing("") == failing("test_one_more fails") == failing("test_three is green") == [ONE, TWO]


def test_a_name_that_may_be_any_word_names_no_test():
    results = tuple(TestResult(one, Outcome.FAILED) for one in ("docs.shop", "", "tests.a.test_sum"))
    found = asked_for("the shop, it's broken;", Baseline(results, {}, 1.0))
    assert found.failing == results
