"""Slips that the failing example gives away. Each row: code, the failing test's line, what came, the line to mend, the
right edit, and within how many candidates it must come."""

import pytest

from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult

ROWS = [
    (
        "KINDS = {\n    'ox': 'oxen',\n    'pea': 'peas',\n    'pod': 'pods',\n}\n",
        "assert many('pen') == 'pens'",
        "AssertionError: assert 'penz' == 'pens'",
        1,
        "'pen': 'pens',\n    'pod'",
        10,
    ),
    (
        "def two(x):\n    return x\nTABLE = {'one': len}\n",
        "assert run('two') == 2",
        "KeyError: 'two'",
        3,
        "'two': two",
        20,
    ),
    (
        "STEPS = [(10, 'X'), (5, 'V'), (1, 'I')]\n",
        "assert roman(9) == 'IX'",
        "AssertionError: assert 'VIIII' == 'IX'",
        1,
        "(10, 'X'), (9, 'IX'), (5",
        30,
    ),
    (
        "KNOWN = {'pan', 'pot', 'not'}\n",
        "assert words('not b') == ['not', 'b']",
        "AssertionError: assert ['b'] == ['not', 'b']",
        1,
        "{'pan', 'pot'}",
        30,
    ),
    (
        "LONG = 'cat dog'.split()\n",
        "assert is_long('cow')",
        "AssertionError: assert False",
        1,
        "'cat dog cow'",
        10,
    ),
    (
        "def f(x):\n    if x == 'a':\n        return 1\n    elif x == 'b':\n        return 2\n",
        "assert f('c') == 3",
        "AssertionError: assert None == 3",
        4,
        "    elif x == 'c':\n        return 3",
        12,
    ),
    (
        "class Tone:\n    LOW = 1\n    HIGH = 2\n",
        "assert Tone.MID == 3",
        "AttributeError: type object 'Tone' has no attribute 'MID'",
        3,
        "    MID = 3",
        10,
    ),
    (
        "def f(x):\n    return x == 'yes'\n",
        "assert f('on')",
        "AssertionError: assert False",
        2,
        "x in ('yes', 'on')",
        12,
    ),
    (
        "def f(x):\n    return x.startswith('#')\n",
        "assert f('; a')",
        "AssertionError: assert False",
        2,
        "('#', ';')",
        20,
    ),
    (
        "def f(x):\n    return isinstance(x, int)\n",
        "assert f(1.5)",
        "AssertionError: assert False",
        2,
        "(int, float)",
        40,
    ),
    (
        "def f(a, b):\n    k = ''.join(a)\n    v = ''.join(b)\n    return k + v\n",
        "assert f('ab', 'cd') == 'a-bc-d'",
        "AssertionError: assert 'abcd' == 'a-bc-d'",
        2,
        "k = '-'.join(a)\n    v = '-'.join(b)",
        10,
    ),
    (
        "def f(n):\n    return f'{n} file'\n",
        "assert f(2) == '2 files'",
        "AssertionError: assert '2 file' == '2 files'",
        2,
        "f'{n} files'",
        5,
    ),
    (
        "def f(n):\n    return 'Dear {n},'\n",
        "assert f('Al') == 'Dear Al,'",
        "AssertionError: assert 'Dear {n},' == 'Dear Al,'",
        2,
        "f'Dear {n},'",
        5,
    ),
    (
        "def f(a):\n    return g(a)\n",
        "assert f('a') == 'a\\n'",
        "AssertionError: assert 'a' == 'a\\n'",
        2,
        "g(a) + '\\n'",
        20,
    ),
    (
        "def f(a):\n    return a.split(',')\n",
        "assert f(b'a,b') == [b'a']",
        "TypeError: a bytes-like object is required, not 'str'",
        2,
        "b','",
        15,
    ),
    (
        "def f(a):\n    return a\n",
        "assert f(b'a') == 'a'",
        "AssertionError: assert b'a' == 'a'",
        2,
        "return a.decode()",
        5,
    ),
    (
        "def f(a):\n    return a\n",
        "assert f([2, 1]) == [1, 2]",
        "AssertionError: assert [2, 1] == [1, 2]",
        2,
        "sorted(a)",
        5,
    ),
    (
        "def f(a):\n    return a.lower()\n",
        "assert f('A') == 'A'",
        "AssertionError: assert 'a' == 'A'",
        2,
        "return a\n",
        8,
    ),
    (
        "def f(a):\n    return sum(a['n'])\n",
        "assert f(x) == 2",
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        2,
        "int(a['n'])",
        10,
    ),
    (
        "import re\ndef f(a):\n    return re.fullmatch(r'[a-z]+', a)\n",
        "assert f('a.b')",
        "AssertionError: assert None",
        3,
        "[a-z.]+",
        30,
    ),
    ("import re\nP = re.compile(r'(\\d+)(s|m)')\n", "assert f('2h')", "ValueError: bad 2h", 2, "(s|m|h)", 40),
    (
        "import re\ndef f(a, b):\n    return re.findall(a, b)\n",
        "assert f('.', 'a') == []",
        "AssertionError: assert ['a'] == []",
        3,
        "re.escape(a)",
        25,
    ),
    (
        "p.add_argument('--size', type=int)\n",
        "assert f() == 20",
        "AssertionError: assert None == 20",
        1,
        "type=int, default=20",
        12,
    ),
    (
        "def f(a, size=10):\n    return size\n",
        "assert f(1) == 20",
        "AssertionError: assert 10 == 20",
        1,
        "size=20",
        8,
    ),
    (
        "def f(a, b):\n    return a\n",
        "assert f(1) == 1",
        "TypeError: f() missing 1 required positional argument: 'b'",
        1,
        "def f(a, b=None)",
        8,
    ),
    (
        "def f(a):\n    return max(len(x) for x in a)\n",
        "assert f([]) == 0",
        "ValueError: max() arg is an empty sequence",
        2,
        "max((len(x) for x in a), default=0)",
        40,
    ),
    (
        "def g(x, *, deep=True):\n    return x\ndef f(x, deep=True):\n    return g(x)\n",
        "assert f(1, deep=False) == 1",
        "AssertionError: assert 2 == 1",
        4,
        "g(x, deep=deep)",
        10,
    ),
    (
        "def f(a):\n    return sorted(x for x in a)\n",
        "assert f('aab') == ['a', 'b']",
        "AssertionError: assert ['a', 'a', 'b'] == ['a', 'b']",
        2,
        "sorted({x for x in a})",
        15,
    ),
    (
        "def f(a):\n    return tuple(x for x in a.split('.'))\n",
        "assert f('1.10') == 1",
        "AssertionError: assert 2 == 1",
        2,
        "int(x) for x",
        40,
    ),
    (
        "async def f(a):\n    with a.open() as b:\n        return b\n",
        "assert run(f) == 1",
        "TypeError: 'A' object does not support the context manager protocol",
        2,
        "    async with a.open()",
        10,
    ),
]


def made(code: str, test: str, came: str, line: int, request: str = "") -> list[str]:
    message = f"    def test_it():\n>       {test}\nE       {came}\n\ntest_m.py:3: Error\n"
    source = SourceFile("m.py", code.encode(), "utf-8", b"", code)
    baseline = Baseline((TestResult("test_m.py::test_it", Outcome.FAILED, 0.0, message),), {}, 1.0)
    suspects = [Suspect("m.py", line, 1.0)]
    found = iter_candidates(lambda _: source, suspects, request=request, baseline=baseline)
    return [
        source.apply(list(candidate.edits)).decode() for _, candidate in zip(range(80), found, strict=False)
    ]


@pytest.mark.parametrize(("code", "test", "came", "line", "wanted", "within"), ROWS)
def test_the_example_leads_to_the_edit(code, test, came, line, wanted, within):
    texts = made(code, test, came, line)
    assert any(wanted in text and wanted not in code for text in texts[:within])


def test_nothing_is_told_by_an_example_that_says_nothing():
    quiet = made("def f(a):\n    return a\n", "assert f(1)", "AssertionError: assert 0", 2)
    assert not any(".decode()" in text for text in quiet[:5])
