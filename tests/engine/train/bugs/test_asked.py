"""What stands beside an excerpt, and which files and mends are worth asking about."""

from __future__ import annotations

import random

import pytest

from engine.prompt.edits import between
from engine.train.bugs import makers, parts
from engine.train.bugs.guess import guessable
from engine.train.bugs.paths import path
from engine.train.bugs.request import request
from engine.train.corpus.files import Document

CODE = '''@cached
def median(
    values,
):
    """Middle of the values.

    More.
    """
    return values[len(values) // 2]
'''


def requests(code: str, count: int = 400, **more) -> list[str]:
    rng = random.Random(1)
    return [request(code, rng, **more) for _ in range(count)]


def test_a_request_names_the_function_or_nothing_and_is_rarer_beside_a_failure():
    alone, beside = requests(CODE), requests(CODE, failed=True)
    assert 0.5 < sum(map(bool, alone)) / 400 < 0.7
    assert 0.3 < sum(map(bool, beside)) / 400 < 0.5
    said = [each for each in alone if each]
    assert 0.75 < sum("median" in each for each in said) / len(said) < 0.95
    assert any("middle of the values" in each for each in said)
    assert not any("{" in each or "values," in each for each in said)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("class Shelf(Base):\n    size = 1", "Shelf"),
        ("    async def put(self): pass", "put"),
        ("func (s *Shelf) Put(x int) {\n}", "Put"),
        ("export function put(x) {\n}", "put"),
        ("static int put_all(int n)\n{", "put_all"),
    ],
)
def test_a_request_knows_the_name(code, name):
    assert any(name in each for each in requests(code, 30))


def test_code_without_a_name_is_asked_about_without_one():
    assert {each for each in requests("x = 1\ny = 2") if each} <= {
        request("", random.Random(seed)) for seed in range(200)
    }


def test_a_docstring_of_a_function_within_isn_t_told():
    code = "def f(a):\n" + "    a += 1\n" * 12 + "    def g():\n        '''inner'''\n"
    assert not any("inner" in each for each in requests(code))


def test_paths_are_those_of_repositories():
    rng = random.Random(2)
    found = [path("attrs", "attr/_make.py", rng) for _ in range(400)]
    assert all(each.endswith("attr/_make.py") for each in found)
    assert 0.25 < sum(each.startswith("src/") for each in found) / 400 < 0.45
    assert 0.4 < found.count("attr/_make.py") / 400 < 0.65
    assert path("python", "json/decoder.py", rng) == "Lib/json/decoder.py"


@pytest.mark.parametrize(
    "name",
    ["a/tests/b.py", "test_a.py", "a/b_test.py", "tests.py", "a/testing/b.py", "conftest.py", "a/b.pyi"],
)
def test_of_tests_and_stubs_nothing_is_asked(name):
    document = Document("a", name, "python", CODE * 3)
    assert all(parts.choose(document, random.Random(seed)) is None for seed in range(20))


@pytest.mark.parametrize("name", ["a/latest.py", "a/contest/b.py", "attest.py", "a.py"])
def test_of_other_files_something_is(name):
    document = Document("a", name, "python", CODE * 3)
    assert any(parts.choose(document, random.Random(seed)) for seed in range(20))


def test_what_needs_names_that_stand_nowhere_is_asked_about_less_often():
    before = "def f(low, high):\n    return low\n"
    known = between(before, before.replace("return low", "return sorted(low, key=high)"))
    one = between(before, before.replace("return low", "return narrowed(low)"))
    many = between(before, before.replace("return low", "return narrowed(low, widened, given, told)"))

    def share(answer) -> float:
        return sum(guessable(before, answer, random.Random(seed)) for seed in range(300)) / 300

    assert share(known) == 1
    assert 0.35 < share(one) < 0.55
    assert share(many) < 0.1


def test_of_code_that_is_right_mostly_other_code_is_asked_about():
    functions = "".join(f"def f{n}_name(a):\n" + "    a += 1\n" * 8 + "    return a\n\n\n" for n in range(20))
    document = Document("a", "a.py", "python", functions)
    own = others = 0
    for seed in range(200):
        example = makers.right(document, random.Random(seed))
        assert example is not None
        question = next(p.segment for p in example if isinstance(p.segment, str) and "\n1|" in p.segment)
        if "request: " in question:
            request, shown = question.split("\n", 1)
            name = shown[shown.index("def ") + 4 : shown.index("(")]
            own += name in request
            others += "_name" in request and name not in request
    assert others > own > 0
