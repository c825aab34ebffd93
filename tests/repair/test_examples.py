import string

from hypothesis import given
from hypothesis import strategies as st

from deskagent.repair.conversions import told
from deskagent.repair.examples import read_examples

PYTEST = """word = 'pan'

    def test_many(word):
        box = Box("lid")
>       assert box.many(
            word) == "pans"
E       AssertionError: assert 'panz' == 'pans'
E
E         - pans
E         ?    ^
E         + panz

test_x.py:5: AssertionError
"""
UNITTEST = """Traceback (most recent call last):
  File "/x/test_x.py", line 17, in test_names
    self.assertEqual(names("a;b"), ["a", "b"])
AssertionError: Lists differ: [b'a', b'b'] != ['a', 'b']

First differing element 0:
b'a'
'a'
"""
CUT = """>       assert f() == "long"
E       AssertionError: assert 'one two ...hree four' == 'one two ...hree five'
E
E         - one two and three five
E         + one two and three four
"""


def test_pytest_prints_source_arguments_and_both_sides():
    found = read_examples([PYTEST])
    assert found.given[0] == "pan" and "lid" in found.given
    assert ("pans", "panz") in found.pairs and "pans" in found.expected and "pans" not in found.given


def test_unittest_prints_the_line_and_both_sides():
    found = read_examples([UNITTEST])
    assert found.given == ("a;b",)
    assert ("a", b"a") in found.pairs and ["a", "b"] in found.expected


def test_shortened_sides_are_read_from_the_difference():
    assert read_examples([CUT]).texts == [("one two and three five", "one two and three four")]


def test_errors_are_kept_and_conversions_follow_from_them():
    found = read_examples([">       assert f(1)\nE       TypeError: unhashable type: 'list'\n"])
    assert found.errors == ("TypeError: unhashable type: 'list'",)
    assert told(found)["tuple"] == 1.0


def test_conversions_follow_from_what_came():
    def of(actual: object, expected: object) -> dict[str, float]:
        return told(read_examples([f"E       AssertionError: assert {actual!r} == {expected!r}"]))

    assert of(" a ", "a")[".strip()"] == 1.0
    assert of("a", "A")["-.lower()"] == 1.0
    assert of(b"x", "x")[".decode()"] == 1.0
    assert of([2, 1], [1, 2])["sorted"] == 1.0
    assert of(-3, 3)["abs"] == 1.0
    assert of(1.333333, 1.33)["round(2)"] == 1.0
    assert "int" not in of("a", "b")


@given(st.text(string.printable + "é\0…", max_size=300))
def test_rubbish_is_read_without_error(text):
    read_examples([text, "E  " + text, "> " + text, f"AssertionError: {text} != {text}"])
