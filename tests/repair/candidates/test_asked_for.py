"""Errors that the tests' own source asks for. Each row: the code, the failing test's body, the right code,
which must come early where every statement of the file is suspected alike.

In a row's code and its mended form `|` ends a line and `>` is a step in."""

# ruff: noqa: E501 - a row is a piece of code on one line
import pytest

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
NO_ERROR = "Failed: DID NOT RAISE"
OTHER = "AssertionError: Regex pattern did not match."
ROWS = [
    *((code, test, NO_ERROR, fixed) for code, test, fixed in RAISES),
    *((code, test, OTHER, fixed) for code, test, fixed in MESSAGES),
]


@pytest.mark.parametrize(("code", "test", "came", "fixed"), ROWS)
def test_the_right_edit_is_among_the_first(rank_of, code, test, came, fixed):
    assert 0 < rank_of(code, test, came, fixed) <= 300
