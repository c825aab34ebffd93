"""Slips that the tests' own source gives away. Each row: the code, the failing test's body, what it ended with, the
right code, and within how many candidates that must come, with every statement of the file suspected alike.

In a row's code and its mended form `|` ends a line and `>` is a step in."""

# ruff: noqa: E501 - a row is a piece of code on one line
import ast
import textwrap

import pytest

from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult

HEAD = "import pytest\nfrom mod import *\nfrom mod import Bad\n\n"


def lines(text: str) -> str:
    out = []
    for line in text.split("|"):
        bare = line.lstrip(">")
        out.append("    " * (len(line) - len(bare)) + bare)
    return "\n".join(out) + "\n"


# ---- an error that should be raised ----
RAISES = [
    (  # a bound
        "def f(n):|>return [0] * n",
        "with pytest.raises(ValueError, match='n must not be negative'):|>f(-1)",
        "def f(n):|>if n < 0:|>>raise ValueError('n must not be negative')|>return [0] * n",
    ),
    (  # the value is in the message
        "def f(age):|>return age * 2",
        "with pytest.raises(ValueError, match='bad age: -4'):|>f(-4)",
        "def f(age):|>if age < 0:|>>raise ValueError(f'bad age: {age}')|>return age * 2",
    ),
    (  # an upper bound that the message names
        "def f(hour):|>return hour % 12",
        "with pytest.raises(ValueError) as e:|>f(24)|assert str(e.value) == 'hour must be at most 23'",
        "def f(hour):|>if hour > 23:|>>raise ValueError('hour must be at most 23')|>return hour % 12",
    ),
    (  # empty
        "def f(xs):|>return sorted(xs)[0]",
        "with pytest.raises(ValueError, match='nothing given'):|>f([])",
        "def f(xs):|>if not xs:|>>raise ValueError('nothing given')|>return sorted(xs)[0]",
    ),
    (  # a key that isn't there
        "class Bad(Exception):|>pass|T = {'a': 1}|def f(key):|>return T[key]",
        "with pytest.raises(Bad, match=\"unknown key 'z'\"):|>f('z')",
        "class Bad(Exception):|>pass|T = {'a': 1}|def f(key):|>if key not in T:|>>raise Bad(f'unknown key {key!r}')|>return T[key]",
    ),
    (  # a key that is there already
        "class A:|>def __init__(self):|>>self.names = {}|>def add(self, name, x):|>>self.names[name] = x",
        "a = A()|a.add('k', 1)|with pytest.raises(KeyError, match='k is taken'):|>a.add('k', 2)",
        "class A:|>def __init__(self):|>>self.names = {}|>def add(self, name, x):|>>if name in self.names:|>>>raise KeyError(f'{name} is taken')|>>self.names[name] = x",
    ),
    (  # a type
        "def f(text):|>return text * 2",
        "with pytest.raises(TypeError, match='text must be a string'):|>f(3)",
        "def f(text):|>if not isinstance(text, str):|>>raise TypeError('text must be a string')|>return text * 2",
    ),
    (  # two that have to be alike
        "def f(a, b):|>return [x * y for x, y in zip(a, b)]",
        "with pytest.raises(ValueError, match='lengths differ'):|>f([1], [1, 2])",
        "def f(a, b):|>if len(a) != len(b):|>>raise ValueError('lengths differ')|>return [x * y for x, y in zip(a, b)]",
    ),
    (  # the wrong way round
        "def f(low, high):|>return range(low, high)",
        "with pytest.raises(ValueError, match='low is above high'):|>f(5, 3)",
        "def f(low, high):|>if low > high:|>>raise ValueError('low is above high')|>return range(low, high)",
    ),
    (  # state
        "class Tap:|>def __init__(self):|>>self.closed = False|>def close(self):|>>self.closed = True|>def pour(self):|>>return 'water'",
        "tap = Tap()|tap.close()|with pytest.raises(RuntimeError, match='the tap is closed'):|>tap.pour()",
        "class Tap:|>def __init__(self):|>>self.closed = False|>def close(self):|>>self.closed = True|>def pour(self):|>>if self.closed:|>>>raise RuntimeError('the tap is closed')|>>return 'water'",
    ),
    (  # full
        "class Box:|>def __init__(self, size):|>>self.size = size|>>self.held = []|>def put(self, x):|>>self.held.append(x)",
        "box = Box(1)|box.put(1)|with pytest.raises(OverflowError, match='the box is full'):|>box.put(2)",
        "class Box:|>def __init__(self, size):|>>self.size = size|>>self.held = []|>def put(self, x):|>>if len(self.held) >= self.size:|>>>raise OverflowError('the box is full')|>>self.held.append(x)",
    ),
    (  # a sibling's guard
        "class V:|>def __init__(self, xs):|>>self.xs = xs|>>self.unit = 'm'|>def plus(self, other):|>>if self.unit != other.unit:|>>>raise ValueError('units differ')|>>return self.xs + other.xs|>def minus(self, that):|>>return self.xs - that.xs",
        "with pytest.raises(ValueError, match='units differ'):|>V(1).minus(V(2))",
        "class V:|>def __init__(self, xs):|>>self.xs = xs|>>self.unit = 'm'|>def plus(self, other):|>>if self.unit != other.unit:|>>>raise ValueError('units differ')|>>return self.xs + other.xs|>def minus(self, that):|>>if self.unit != that.unit:|>>>raise ValueError('units differ')|>>return self.xs - that.xs",
    ),
    (  # blank text
        "def f(name):|>return name.title()",
        "with pytest.raises(ValueError, match='name is blank'):|>f('  ')",
        "def f(name):|>if not name.strip():|>>raise ValueError('name is blank')|>return name.title()",
    ),
    (  # a sign that is missing
        "def f(mail):|>return mail.split('@')",
        "with pytest.raises(ValueError, match='no @ in it'):|>f('ann')",
        "def f(mail):|>if '@' not in mail:|>>raise ValueError('no @ in it')|>return mail.split('@')",
    ),
    (  # quietly given up
        "def f(kind):|>if kind == 'a':|>>return 1|>return None",
        "with pytest.raises(ValueError, match='unknown kind: x'):|>f('x')",
        "def f(kind):|>if kind == 'a':|>>return 1|>raise ValueError(f'unknown kind: {kind}')",
    ),
    (  # falls through
        "def f(kind):|>if kind == 'a':|>>return 1|>if kind == 'b':|>>return 2",
        "with pytest.raises(ValueError, match='unknown kind: x'):|>f('x')",
        "def f(kind):|>if kind == 'a':|>>return 1|>if kind == 'b':|>>return 2|>raise ValueError(f'unknown kind: {kind}')",
    ),
    (  # no else
        "def f(kind):|>if kind == 'a':|>>x = 1|>elif kind == 'b':|>>x = 2|>return x",
        "with pytest.raises(ValueError, match='unknown kind: x'):|>f('x')",
        "def f(kind):|>if kind == 'a':|>>x = 1|>elif kind == 'b':|>>x = 2|>else:|>>raise ValueError(f'unknown kind: {kind}')|>return x",
    ),
    (  # swallowed
        "class Bad(Exception):|>pass|def f(x):|>try:|>>return int(x)|>except ValueError:|>>return None",
        "with pytest.raises(Bad, match='not a number: q'):|>f('q')",
        "class Bad(Exception):|>pass|def f(x):|>try:|>>return int(x)|>except ValueError:|>>raise Bad(f'not a number: {x}')",
    ),
    (  # made and not raised
        "def f(x):|>if x < 0:|>>ValueError('below 0')|>return x",
        "with pytest.raises(ValueError):|>f(-1)",
        "def f(x):|>if x < 0:|>>raise ValueError('below 0')|>return x",
    ),
    (  # assert
        "def f(x):|>assert x > 0|>return x",
        "with pytest.raises(ValueError, match='x must be positive'):|>f(-1)",
        "def f(x):|>if x <= 0:|>>raise ValueError('x must be positive')|>return x",
    ),
    (  # no message asked for
        "def f(x):|>return 1 - x",
        "with pytest.raises(ValueError):|>f(-1)",
        "def f(x):|>if x < 0:|>>raise ValueError|>return 1 - x",
    ),
    (  # unittest
        "def f(month):|>return month + 1",
        "with self.assertRaisesRegex(ValueError, 'no month 13'):|>f(13)",
        "def f(month):|>if not 1 <= month <= 12:|>>raise ValueError(f'no month {month}')|>return month + 1",
    ),
    (  # unittest, the call handed over
        "def f(x):|>return x[0]",
        "self.assertRaises(ValueError, f, '')",
        "def f(x):|>if not x:|>>raise ValueError|>return x[0]",
    ),
    (  # None
        "def f(x):|>return str(x)",
        "with pytest.raises(TypeError, match='x is missing'):|>f(None)",
        "def f(x):|>if x is None:|>>raise TypeError('x is missing')|>return str(x)",
    ),
]
# ---- another error or message ----
MESSAGES = [
    (
        "def f(n):|>if n > 9:|>>raise ValueError('too many')|>return n",
        "with pytest.raises(ValueError, match='too many: 12'):|>f(12)",
        "def f(n):|>if n > 9:|>>raise ValueError(f'too many: {n}')|>return n",
    ),
    (
        "class Bad(Exception):|>pass|def f(n):|>if n > 9:|>>raise ValueError('too many')|>return n",
        "with pytest.raises(Bad, match='too many'):|>f(12)",
        "class Bad(Exception):|>pass|def f(n):|>if n > 9:|>>raise Bad('too many')|>return n",
    ),
    (
        "def f(n):|>if n > 9:|>>raise ValueError|>return n",
        "with pytest.raises(ValueError, match='too many'):|>f(12)",
        "def f(n):|>if n > 9:|>>raise ValueError('too many')|>return n",
    ),
    (
        "def f(row, n):|>for part in row.split(','):|>>if len(part) > n:|>>>raise ValueError('part too long')|>return n",
        "with pytest.raises(ValueError, match=\"part too long: 'abc'\"):|>f('a,abc', 2)",
        "def f(row, n):|>for part in row.split(','):|>>if len(part) > n:|>>>raise ValueError(f'part too long: {part!r}')|>return n",
    ),
    (
        "def f(a):|>if len(a) != 2:|>>raise ValueError('need 2 parts')|>return a",
        "with pytest.raises(ValueError, match='need 2 parts, not 3'):|>f([1, 2, 3])",
        "def f(a):|>if len(a) != 2:|>>raise ValueError(f'need 2 parts, not {len(a)}')|>return a",
    ),
    (
        "class Bad(Exception):|>pass|def f(s):|>try:|>>return int(s)|>except ValueError:|>>raise",
        "with pytest.raises(Bad, match='no number'):|>f('q')",
        "class Bad(Exception):|>pass|def f(s):|>try:|>>return int(s)|>except ValueError:|>>raise Bad('no number') from None",
    ),
]
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
NO_ERROR = "Failed: DID NOT RAISE"
ROWS = [
    *((a, b, NO_ERROR, c) for a, b, c in RAISES), *((a, b, "AssertionError: Regex pattern did not match.", c)
                                                     for a, b, c in MESSAGES),
    *COMES, *BASES, *ABSENT, *MATCHES, *FRESH, *GROUPS,
]  # fmt: skip


def rank_of(code: str, test: str, came: str, fixed: str, limit: int = 400) -> int:
    """Where the mended code stands among the candidates, 0 for nowhere."""
    before, after = lines(code), ast.dump(ast.parse(lines(fixed)))
    body = textwrap.indent(lines(test), "    ")
    tests = f"{HEAD}def test_it(self):\n{body}"
    message = f"    def test_it(self):\n>   {body.lstrip()}E       {came}\n\ntest_mod.py:3: Error\n"
    files = {"mod.py": before, "test_mod.py": tests}

    def read(path: str) -> SourceFile:
        return SourceFile(path, files[path].encode(), "utf-8", b"", files[path])

    baseline = Baseline((TestResult("test_mod.py::test_it", Outcome.FAILED, 0.0, message),), {}, 1.0)
    rows = [i for i, line in enumerate(before.splitlines(), 1) if line.strip()]
    suspects = [Suspect("mod.py", line, 1.0) for line in rows]
    found = iter_candidates(read, suspects, baseline=baseline)
    for at, candidate in zip(range(1, limit + 1), found, strict=False):
        text = read("mod.py").apply(list(candidate.edits)).decode()
        if ast.dump(ast.parse(text)) == after:
            return at
    return 0


@pytest.mark.parametrize(("code", "test", "came", "fixed"), ROWS)
def test_the_right_edit_is_among_the_first(code, test, came, fixed):
    assert 0 < rank_of(code, test, came, fixed) <= 300
