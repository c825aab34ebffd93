from deskagent.repair.topics import Topics, parts, words
from deskagent.repair.types import Baseline, Outcome, TestResult

TESTS = """import pytest
from shop import Cart


def test_total():
    cart = Cart([1])
    assert cart.total() == 1


class TestShop:
    def test_vat_of_nothing(self):
        # a cart without items owes no levy
        cart = Cart([])
        assert cart.owed_levy() / 2 == 0

    @pytest.mark.parametrize("mustard", [1])
    def test_repr(self):
        assert repr(Cart([1]))


HELPERS = ["unrelated"]
"""


def topics(request="", test="tests/test_shop.py::TestShop::test_vat_of_nothing", message=""):
    results = (TestResult(test, Outcome.FAILED, 0.0, message), TestResult("x", Outcome.PASSED))
    return Topics.read(request, Baseline(results, {}, 1.0), {"tests/test_shop.py": TESTS}.get)


def test_names_fall_into_words_without_their_endings():
    assert parts("parseHTTPTags") == ("parse", "http", "tag")
    assert words("owed_levies × 3 and the class") == {"levy": 1, "owed": 1}


def test_names_outside_of_latin_are_words():
    assert words("неделя_год") == {"неделя": 1, "год": 1}


def test_what_only_the_failing_test_speaks_of_weighs_more():
    found = topics()
    assert found.weights["levy"] > found.weights["cart"]
    assert found.called["owed_levy"] == 1.0 > found.called["Cart"]
    assert "__truediv__" in found.called, "operators call special methods"
    assert "mustard" not in found.weights, "what decorates the next test"
    assert "unrelated" not in found.weights and "total" not in found.weights


def test_the_request_weighs_most_and_its_list_of_tests_nothing():
    found = topics(request="Rounding of coupons\n\nFailing: tests/test_shop.py::TestGone::test_elsewhere")
    assert found.weights["coupon"] > found.weights["levy"] > 0
    assert "elsewhere" not in found.weights


def test_what_a_message_shows_counts_and_its_source_lines_do_not():
    found = topics(message="    unseen = 1\n>   assert a == b\nE   assert 'pears' == 'plums'\n")
    assert found.weights["plum"] > 0
    assert "unseen" not in found.weights


def test_a_test_of_unittest_is_found_by_its_dotted_name():
    assert topics(test="tests.test_shop.TestShop.test_vat_of_nothing").weights["levy"] > 0


def test_no_source_and_rubbish_give_what_the_names_say():
    found = topics(test="", message="\x00")
    assert found.called == {}
    assert Topics.read("", Baseline((), {}, 0.0), {}.get).weights == {}
    gone = topics(test="nowhere.py::test_kettles[\n-1]")
    assert gone.weights["kettl"] > 0


def test_a_failing_file_without_a_test_of_its_own_says_nothing():
    failing = Baseline((TestResult("test_b.py", Outcome.ERROR, 0.0, "SyntaxError: invalid syntax"),), {}, 1.0)
    for text in ("def broken(:\n", "", '"""\n>>> 1 + 1\n3\n"""\n'):
        assert isinstance(Topics.read("", failing, lambda path, text=text: text), Topics)
