"""A type too many, a zero below zero, a row of a table in a table. Each row: the code, the failing test's body, what it
ended with, the right code, which must come early where every statement of the file is suspected alike.

In a row's code and its mended form `|` ends a line and `>` is a step in."""

# ruff: noqa: E501 - a row is a piece of code on one line
import pytest

_ANY = "Failed: DID NOT RAISE <class 'ValueError'>"
_INT = "with pytest.raises(ValueError):|>f({'a': 'x'}, 'a')"
ROWS = [
    (
        "def f(x):|>if isinstance(x, (list, str)):|>>return list(x)|>return [x]",
        "assert f('ab') == ['ab']",
        "AssertionError: assert ['a', 'b'] == ['ab']",
        "def f(x):|>if isinstance(x, list):|>>return list(x)|>return [x]",
    ),
    (
        "def f(x):|>if isinstance(x, (list, tuple, str)):|>>return list(x)|>return [x]",
        "assert f('ab') == ['ab']",
        "AssertionError: assert ['a', 'b'] == ['ab']",
        "def f(x):|>if isinstance(x, (list, tuple)):|>>return list(x)|>return [x]",
    ),
    (
        "def f(d, k):|>try:|>>return int(d[k])|>except (KeyError, ValueError):|>>return 0",
        _INT,
        _ANY,
        "def f(d, k):|>try:|>>return int(d[k])|>except KeyError:|>>return 0",
    ),
    (
        "def f(d, k):|>try:|>>return int(d[k])|>except (KeyError, TypeError, ValueError) as e:|>>return 0",
        _INT,
        _ANY,
        "def f(d, k):|>try:|>>return int(d[k])|>except (KeyError, TypeError) as e:|>>return 0",
    ),
    (
        "def f(d, k):|>try:|>>return int(d[k])|>except Exception:|>>return 0",
        _INT,
        _ANY,
        "def f(d, k):|>try:|>>return int(d[k])|>except KeyError:|>>return 0",
    ),
    (
        "def f(x, n):|>return round(x, n)",
        "assert str(f(-0.001, 2)) == '0.0'",
        "AssertionError: assert '-0.0' == '0.0'",
        "def f(x, n):|>return round(x, n) + 0.0",
    ),
    (
        "def f(x):|>return -x",
        "assert str(f(0.0)) == '0.0'",
        "AssertionError: assert '-0.0' == '0.0'",
        "def f(x):|>return -x or 0.0",
    ),
    (
        "def f(x):|>return f'{x:.1f} km'",
        "assert f(-0.01) == '0.0 km'",
        "AssertionError: assert '-0.0 km' == '0.0 km'",
        "def f(x):|>return f'{round(x, 1) + 0.0:.1f} km'",
    ),
    (
        "T = {'km': {'m': 1000, 'cm': 100000}, 'm': {'cm': 100}}|def f(a, b):|>return T[a][b]",
        "assert f('m', 'mm') == 1000",
        "KeyError: 'mm'",
        "T = {'km': {'m': 1000, 'cm': 100000}, 'm': {'cm': 100, 'mm': 1000}}|def f(a, b):|>return T[a][b]",
    ),
    (
        "T = {'km': {'m': 1000}, 'm': {'cm': 100}}|def f(a, b):|>return T[a][b]",
        "assert f('cm', 'mm') == 10",
        "KeyError: 'cm'",
        "T = {'km': {'m': 1000}, 'm': {'cm': 100}, 'cm': {'mm': 10}}|def f(a, b):|>return T[a][b]",
    ),
    (
        "T = [|>('x', 1, 'a'),|>('y', 2, 'a'),|]|def f(k):|>for n, v, _ in T:|>>if n == k:|>>>return v",
        "assert f('z') == 3",
        "AssertionError: assert None == 3",
        "T = [|>('x', 1, 'a'),|>('y', 2, 'a'),|>('z', 3, 'a'),|]|def f(k):|>for n, v, _ in T:|>>if n == k:|>>>return v",
    ),
    (
        "T = [{'name': 'x', 'n': 1}, {'name': 'y', 'n': 2}]|def f(k):|>for t in T:|>>if t['name'] == k:|>>>return t['n']",
        "assert f('z') == 3",
        "AssertionError: assert None == 3",
        "T = [{'name': 'x', 'n': 1}, {'name': 'y', 'n': 2}, {'name': 'z', 'n': 3}]|def f(k):|>for t in T:|>>if t['name'] == k:|>>>return t['n']",
    ),
]


@pytest.mark.parametrize(("code", "test", "came", "fixed"), ROWS)
def test_the_right_edit_is_among_the_first(rank_of, code: str, test: str, came: str, fixed: str) -> None:
    assert 0 < rank_of(code, test, came, fixed) <= 20


NEW = {"type.fewer", "exception.fewer", "arithmetic.zero", "element.nested"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(x):\n    return isinstance(x, (int, str))\n", 2),
        (
            "def f(x):\n    try:\n        return int(x)\n    except (KeyError, ValueError):\n        return 0\n",
            4,
        ),
        ("def f(x):\n    return round(-x * 2, 1)\n", 2),
        ("T = [('x', 1), ('y', 2), ('z',)]\n", 1),
        ("T = {'a': {'b': 1}, 'c': {}}\n", 1),
    ],
)
def test_nothing_of_it_is_made_where_no_failing_test_asks_for_it(made, text: str, line: int) -> None:
    assert not {operator for _, operator in made(text, line, message="E  assert 3 == 4", limit=400)} & NEW
