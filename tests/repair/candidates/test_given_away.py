"""Slips that a failing assertion gives away. Each row: the code, the failing test's body, what it ended with, the right code,
which must come early where every statement of the file is suspected alike.

In a row's code and its mended form `|` ends a line and `>` is a step in."""

# ruff: noqa: E501 - a row is a piece of code on one line
import pytest

# ---- an error that comes and shouldn't ----
COMES = [
    (
        "class Bad(Exception):|>pass|def f(s):|>n = int(s)|>return n + 1",
        "with pytest.raises(Bad, match='no number: q'):|>f('q')",
        "ValueError: invalid literal for int() with base 10: 'q'",
        "class Bad(Exception):|>pass|def f(s):|>try:|>>n = int(s)|>except ValueError:|>>raise Bad(f'no number: {s}')|>return n + 1",
    ),
    (
        "def f(rows):|>out = []|>for row in rows:|>>out.append(int(row))|>return out",
        "assert f(['1', 'x']) == [1]",
        "ValueError: invalid literal for int() with base 10: 'x'",
        "def f(rows):|>out = []|>for row in rows:|>>try:|>>>out.append(int(row))|>>except ValueError:|>>>continue|>return out",
    ),
    (
        "def f(d, k):|>return d[k]",
        "assert f({}, 'a') is None",
        "KeyError: 'a'",
        "def f(d, k):|>if k not in d:|>>return None|>return d[k]",
    ),
    (
        "def f(xs):|>return sum(xs) / len(xs)",
        "assert f([]) == 0",
        "ZeroDivisionError: division by zero",
        "def f(xs):|>if not xs:|>>return 0|>return sum(xs) / len(xs)",
    ),
]
# ---- a base case ----
BASES = [
    (
        "def f(n):|>return n * f(n - 1)",
        "assert f(0) == 1",
        "RecursionError: maximum recursion depth exceeded",
        "def f(n):|>if n == 0:|>>return 1|>return n * f(n - 1)",
    ),
    (
        "class P:|>def __init__(self, xs):|>>self.xs = xs|>def __eq__(self, o):|>>return self.xs == o.xs|>def power(self, n):|>>return self * self.power(n - 1)|>def __mul__(self, o):|>>return P(self.xs + o.xs)",
        "assert P('a').power(0) == P('')",
        "RecursionError: maximum recursion depth exceeded",
        "class P:|>def __init__(self, xs):|>>self.xs = xs|>def __eq__(self, o):|>>return self.xs == o.xs|>def power(self, n):|>>if n == 0:|>>>return P('')|>>return self * self.power(n - 1)|>def __mul__(self, o):|>>return P(self.xs + o.xs)",
    ),
    (
        "def f(xs):|>return xs[0] + f(xs[1:])",
        "assert f('') == ''",
        "IndexError: string index out of range",
        "def f(xs):|>if not xs:|>>return ''|>return xs[0] + f(xs[1:])",
    ),
    (
        "def f(names):|>return ', '.join(names[:-1]) + ' and ' + names[-1]",
        "assert f([]) == 'nobody'",
        "IndexError: list index out of range",
        "def f(names):|>if not names:|>>return 'nobody'|>return ', '.join(names[:-1]) + ' and ' + names[-1]",
    ),
    (
        "def f(text, width):|>return text[:width - 1] + '~'",
        "assert f('', 3) == ''",
        "AssertionError: assert '~' == ''",
        "def f(text, width):|>if not text:|>>return text|>return text[:width - 1] + '~'",
    ),
    (
        "class T:|>def __init__(self, v=0):|>>self.v = v|>def plus(self, other):|>>return T(self.v + other.v)",
        "assert T(1).plus(None) == T(1)",
        "AttributeError: 'NoneType' object has no attribute 'v'",
        "class T:|>def __init__(self, v=0):|>>self.v = v|>def plus(self, other):|>>if other is None:|>>>return self|>>return T(self.v + other.v)",
    ),
    (
        "def f(tree):|>yield from f(tree.left)|>yield tree.value",
        "assert list(f(None)) == []",
        "AttributeError: 'NoneType' object has no attribute 'left'",
        "def f(tree):|>if tree is None:|>>return|>yield from f(tree.left)|>yield tree.value",
    ),
]
# ---- absent and empty ----
ABSENT = [
    ("def f(x, y):|>if x:|>>return x|>return y", "assert f(0, 1) == 0", "AssertionError: assert 1 == 0",
     "def f(x, y):|>if x is not None:|>>return x|>return y"),
    ("def f(x):|>x = x or 5|>return x", "assert f(0) == 0", "AssertionError: assert 5 == 0",
     "def f(x):|>x = 5 if x is None else x|>return x"),
    ("def f(x):|>x = x or 5|>return x", "assert f(0) == 0", "AssertionError: assert 5 == 0",
     "def f(x):|>x = x if x is not None else 5|>return x"),
    ("def f(d, k):|>if d.get(k):|>>return d[k]|>return -1", "assert f({1: 0}, 1) == 0", "AssertionError: assert -1 == 0",
     "def f(d, k):|>if k in d:|>>return d[k]|>return -1"),
    ("def f(d, k):|>return d.get(k) or 3", "assert f({1: 0}, 1) == 0", "AssertionError: assert 3 == 0",
     "def f(d, k):|>return d.get(k, 3)"),
    ("def f(xs):|>return [x for x in xs if x]", "assert f([0]) == [0]", "AssertionError: assert [] == [0]",
     "def f(xs):|>return [x for x in xs if x is not None]"),
    ("def f(x):|>return 'none' if not x else str(x)", "assert f(0) == '0'", "AssertionError: assert 'none' == '0'",
     "def f(x):|>return 'none' if x is None else str(x)"),
    ("def f(a, b):|>if a and b:|>>return a + b|>return None", "assert f(0, 1) == 1", "AssertionError: assert None == 1",
     "def f(a, b):|>if a is not None and b is not None:|>>return a + b|>return None"),
    ("def f(xs):|>return list(filter(None, xs))", "assert f([0]) == [0]", "AssertionError: assert [] == [0]",
     "def f(xs):|>return [x for x in xs if x is not None]"),
    ("def f(q):|>while (x := q.get()):|>>print(x)|>return 0", "assert f(q) == 1", "AssertionError: assert 0 == 1",
     "def f(q):|>while (x := q.get()) is not None:|>>print(x)|>return 0"),
    ("def f(x):|>if x is not None:|>>return 1|>return 0", "assert f('') == 0", "AssertionError: assert 1 == 0",
     "def f(x):|>if x:|>>return 1|>return 0"),
]  # fmt: skip
# ---- what was asked for is forgotten in a condition ----
MATCHES = [
    ("class R:|>def __init__(self, kind):|>>self.kind = kind|def f(rs, kind):|>for r in rs:|>>if r.ok():|>>>return r|>return None",
     "assert f([], 'a') == 1", "AssertionError: assert None == 1",
     "class R:|>def __init__(self, kind):|>>self.kind = kind|def f(rs, kind):|>for r in rs:|>>if r.ok() and r.kind == kind:|>>>return r|>return None"),
    ("class R:|>tag: str|def f(rs, tag):|>return [r for r in rs]", "assert f([], 'a') == 1",
     "AssertionError: assert [] == 1", "class R:|>tag: str|def f(rs, tag):|>return [r for r in rs if r.tag == tag]"),
    ("class R:|>def __init__(self, kind):|>>self.kind = kind|>>self.on = True|>def takes(self, kind):|>>return self.on",
     "assert not R('a').takes('b')", "AssertionError: assert not True",
     "class R:|>def __init__(self, kind):|>>self.kind = kind|>>self.on = True|>def takes(self, kind):|>>return self.on and self.kind == kind"),
    ("def f(rows, strict):|>for r in rows:|>>if r < 0:|>>>return False|>return True", "assert f([-1], False)",
     "AssertionError: assert False", "def f(rows, strict):|>for r in rows:|>>if r < 0 and strict:|>>>return False|>return True"),
]  # fmt: skip
# ---- one value for all ----
FRESH = [
    ("def f(x, xs=[]):|>xs.append(x)|>return xs", "assert f(2) == [2]", "AssertionError: assert [1, 2] == [2]",
     "def f(x, xs=None):|>if xs is None:|>>xs = []|>xs.append(x)|>return xs"),
    ("def f(k, d={}):|>d[k] = 1|>return d", "assert f(2) == {2: 1}", "AssertionError: assert {1: 1, 2: 1} == {2: 1}",
     "def f(k, d=None):|>if d is None:|>>d = {}|>d[k] = 1|>return d"),
    ("class A:|>def __init__(self, xs=[]):|>>self.xs = xs", "assert A().xs == []", "AssertionError: assert [1] == []",
     "class A:|>def __init__(self, xs=None):|>>self.xs = xs or []"),
    ("class A:|>def __init__(self, xs=[]):|>>self.xs = xs", "assert A().xs == []", "AssertionError: assert [1] == []",
     "class A:|>def __init__(self, xs=None):|>>self.xs = xs if xs is not None else []"),
    ("class A:|>def __init__(self, xs=[]):|>>self.xs = xs", "assert A().xs == []", "AssertionError: assert [1] == []",
     "class A:|>def __init__(self, xs=[]):|>>self.xs = list(xs)"),
    ("class A:|>xs = []|>def __init__(self, n):|>>self.n = n", "assert A(1).xs == []", "AssertionError: assert [1] == []",
     "class A:|>def __init__(self, n):|>>self.n = n|>>self.xs = []"),
    ("class A:|>xs = []|>def add(self, n):|>>self.xs.append(n)", "assert A().xs == []", "AssertionError: assert [1] == []",
     "class A:|>def __init__(self):|>>self.xs = []|>def add(self, n):|>>self.xs.append(n)"),
]  # fmt: skip
# ---- a group lost ----
GROUPS = [
    ("def f(xs):|>out = []|>now = []|>for x in xs:|>>if x == 0:|>>>now = []|>>else:|>>>now.append(x)|>if now:|>>out.append(now)|>return out",
     "assert f([1, 0, 2]) == [[1], [2]]", "AssertionError: assert [[2]] == [[1], [2]]",
     "def f(xs):|>out = []|>now = []|>for x in xs:|>>if x == 0:|>>>if now:|>>>>out.append(now)|>>>now = []|>>else:|>>>now.append(x)|>if now:|>>out.append(now)|>return out"),
    ("def f(xs):|>now = []|>for x in xs:|>>if x == 0:|>>>now = []|>>else:|>>>now.append(x)|>yield now",
     "assert list(f([1, 0, 2])) == [[1], [2]]", "AssertionError: assert [[2]] == [[1], [2]]",
     "def f(xs):|>now = []|>for x in xs:|>>if x == 0:|>>>yield now|>>>now = []|>>else:|>>>now.append(x)|>yield now"),
]  # fmt: skip
ROWS = [*COMES, *BASES, *ABSENT, *MATCHES, *FRESH, *GROUPS]


@pytest.mark.parametrize(("code", "test", "came", "fixed"), ROWS)
def test_the_right_edit_is_among_the_first(rank_of, code, test, came, fixed):
    assert 0 < rank_of(code, test, came, fixed) <= 300
