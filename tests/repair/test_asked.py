# ruff: noqa: E501 - a row is a piece of code on one line
"""What is read from the tests' own source."""

import pytest

from deskagent.repair.asked import Asked, Call, Raised, read_asked
from deskagent.repair.patterns import HOLE, plain
from deskagent.repair.types import Baseline, Outcome, TestResult
from deskagent.repair.values import UNKNOWN


def asked(text: str, failing: list[str], passing: tuple[str, ...] = (), messages: str = "") -> Asked:
    results = [TestResult(name, Outcome.FAILED, 0.0, messages) for name in failing]
    results += [TestResult(name, Outcome.PASSED) for name in passing]
    return read_asked(Baseline(tuple(results), {}, 1.0), {"test_m.py": text}.get)


ERRORS = [
    ("with pytest.raises(ValueError, match='too small'):\n        f(1)", Raised("ValueError", "", "too small")),
    ("with pytest.raises(lib.Bad):\n        f(1)", Raised("Bad", "lib", "")),
    ("with pytest.raises(Odd) as e:\n        f(1)\n    assert str(e.value) == 'x is odd'", Raised("Odd", "pkg.errors", "x is odd")),
    ("with pytest.raises(Odd) as e:\n        f(1)\n    assert 'is odd' in str(e.value)", Raised("Odd", "pkg.errors", "is odd")),
    ("with pytest.raises(Odd) as e:\n        f(1)\n    assert e.value.args[0] == 'odd'", Raised("Odd", "pkg.errors", "odd")),
    ("with self.assertRaisesRegex(KeyError, r'no \\d+\\.'):\n        f(1)", Raised("KeyError", "", f"no {HOLE}.")),
    ("self.assertRaises(KeyError, f, 1)", Raised("KeyError", "", "")),
    ("try:\n        f(1)\n    except Odd:\n        pass", Raised("Odd", "pkg.errors", "")),
    ("text = 'a b'\n    with pytest.raises(ValueError, match=re.escape(text)):\n        f(1)", Raised("ValueError", "", "a b")),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), ERRORS)
def test_errors(body, wanted):
    text = f"import lib\nfrom pkg.errors import Odd\n\ndef test_a(self):\n    {body}\n"
    assert asked(text, ["test_m.py::test_a"]).raises == (wanted,)


def test_calls_of_failing_and_passing_tests():
    text = "N = 3\ndef test_a():\n    assert f(N, k='x') == [1]\ndef test_b():\n    assert f(-1)\n"
    found = asked(text, ["test_m.py::test_a"], ("test_m.py::test_b",))
    assert found.failing == (Call("f", (3,), {"k": "x"}, "[1]", [1]),)
    assert found.passing == (Call("f", (-1,), {}, "True", True),)


def test_only_what_an_error_is_wanted_of_is_rejected():
    text = "def test_a():\n    a = make(1)\n    with pytest.raises(E):\n        a.put(2)\n"
    found = asked(text, ["test_m.py::test_a"])
    assert [(call.name, call.raises) for call in found.failing] == [("put", True)]
    assert [call.name for call in found.passing] == ["make"]


def test_rows_of_parametrize():
    text = "@pytest.mark.parametrize('a, b', [(1, 'x'), pytest.param(2, 'y')])\ndef test_a(a, b):\n    assert f(a) == b\n"
    found = asked(text, ["test_m.py::test_a[2-y]"], ("test_m.py::test_a[1-x]",))
    # in the order of the results, which is that of the rows
    assert {call.values for call in (*found.failing, *found.passing)} == {(1,), (2,)}


def test_unittest_ids_lead_to_their_file():
    text = "class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(0), 1)\n"
    assert asked(text, ["test_m.T.test_a"]).failing == (Call("f", (0,), {}, "1", 1),)


ODD = [
    "def test_a(:\n",
    "",
    "\0",
    "def test_a():\n    assert f(" + "+".join(["1"] * 3000) + ") == 1\n",
    "def test_a():\n    assert f(0x" + "f" * 5000 + ") == 1\n",
    "def test_a():\n    assert f(tuple(range(10**12)), list(range(99999999999))) == 1\n",
    "def test_a():\n    assert f([[[0] * 1000] * 1000] * 1000, {[]: 1}, {1, []}, -'a', 'a' * -1) == 1\n",
    "def test_a():\n    with pytest.raises():\n        f()\n    with pytest.raises(*E):\n        f()\n",
    "class test_a: pass\n",
]


@pytest.mark.parametrize("text", ODD)
def test_odd_sources_break_nothing(text):
    assert isinstance(asked(text, ["test_m.py::test_a", "", "::", "a.b.c", "test_m.py::T::x[1]"]), Asked)


def test_values_that_cannot_be_told():
    found = asked("def test_a():\n    assert f(g(), x.y, [z]) == 1\n", ["test_m.py::test_a"])
    assert next(call for call in found.failing if call.name == "f").values == (UNKNOWN, UNKNOWN, UNKNOWN)


def test_without_failures_nothing_is_read():
    baseline = Baseline((TestResult("test_m.py::test_a", Outcome.PASSED),), {}, 1.0)
    assert read_asked(baseline, lambda path: pytest.fail(path)) == Asked()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("^a b$", "a b"), (r"a\.b\(\)", "a.b()"), ("no .* here", f"no {HOLE} here"), (r"at least \d+", f"at least {HOLE}"),
     ("f(x)", "f(x)"), ("(a|b) c", " c"), (".*", ""), ("", ""), ("\\", "\\")],
)  # fmt: skip
def test_patterns_read_back(pattern, text):
    assert plain(pattern) == text
