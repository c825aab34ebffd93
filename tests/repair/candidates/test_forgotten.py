"""What developers leave out over and over: an end of a branch, an import, a method, a kind of value."""

import itertools

import pytest

from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult

# name → (code with «what is missing» or «old»new», suspect's line, the failure's message, rank that is good enough)
CASES = {
    "continue": (
        "def parse(lines):\n    found = {}\n    for line in lines:\n        if line[0] == '#':\n"
        "            found['note'] = line\n«            continue\n»        found[line[0]] = line\n    return found\n",
        5, "E       AssertionError: assert {'#': 1} == {}", 40,
    ),
    "return in a branch": (
        "def render(node):\n    if isinstance(node, str):\n        out = node\n«        return out\n»"
        "    out = node[0]\n    return out\n", 3, "E       AssertionError: assert 'a' == 'ab'", 15,
    ),
    "a parameter never kept": (
        "class Table:\n    def __init__(self, rows, sep):\n        self.rows = rows\n«        self.sep = sep\n»\n"
        "    def text(self):\n        return self.sep.join(self.rows)\n",
        6, "E       AttributeError: 'Table' object has no attribute 'sep'", 5,
    ),
    "the base's __init__": (
        "class Base:\n    def __init__(self, name):\n        self.name = name\n\n\nclass Bag(Base):\n"
        "    def __init__(self, name, size):\n«        super().__init__(name)\n»        self.size = size\n",
        8, "E       AttributeError: 'Bag' object has no attribute 'name'", 20,
    ),
    "an import": (
        "import json\n«import re\n»\n\ndef words(text):\n    return re.findall('a', json.loads(text))\n",
        5, "E       NameError: name 're' is not defined", 3,
    ),
    "a name of an import": (
        "from collections import «deque»OrderedDict, deque»\n\n\ndef f(x):\n    return OrderedDict(x), deque(x)\n",
        5, "E       NameError: name 'OrderedDict' is not defined", 4,
    ),
    "what a package doesn't give": (
        "from .a import «one»one, two»\n\n__all__ = ['one']\n",
        1, "E   ImportError: cannot import name 'two' from 'pkg' (/x/pkg/__init__.py)", 3,
    ),
    "hash beside eq": (
        "class V:\n    def __eq__(self, other):\n        return self.key == other.key\n«\n    def __hash__(self):\n"
        "        return hash(self.key)\n»", 1, "E       TypeError: unhashable type: 'V'", 3,
    ),
    "len": (
        "class Q:\n    def __init__(self):\n        self._items = []\n«\n    def __len__(self):\n"
        "        return len(self._items)\n»", 1, "E       TypeError: object of type 'Q' has no len()", 3,
    ),
    "a value of another class": (
        "class V:\n    def __eq__(self, other):\n«        if not isinstance(other, V):\n"
        "            return NotImplemented\n»        return self.key == other.key\n",
        3, "E       AttributeError: 'int' object has no attribute 'key'", 12,
    ),
    "property": (
        "class R:\n«    @property\n»    def area(self):\n        return self.w\n",
        2, "E       AssertionError: assert <bound method R.area of R> == 6", 5,
    ),
    "staticmethod": (
        "class R:\n«    @staticmethod\n»    def area(w):\n        return w\n",
        2, "E       TypeError: R.area() takes 1 positional argument but 2 were given", 6,
    ),
    "wraps": (
        "import functools\n\n\ndef traced(func):\n«    @functools.wraps(func)\n»    def inner(*args):\n"
        "        return func(*args)\n    return inner\n",
        5, "E       AssertionError: assert 'inner' == 'add'\nE        +  where 'inner' = add.__name__", 5,
    ),
    "one more kind": (
        "def text(value):\n    if isinstance(value, str):\n        return value\n«    if isinstance(value, bytes):\n"
        "        return value.decode()\n»    raise TypeError(type(value))\n",
        2, "E       TypeError: <class 'bytes'>", 40,
    ),
    "else": (
        "def kind(v):\n    if v == 1:\n        t = 'a'\n    elif v == 2:\n        t = 'b'\n«    else:\n"
        "        t = None\n»    return t\n", 2,
        "E       UnboundLocalError: cannot access local variable 't' where it is not associated with a value", 20,
    ),
    "a kind made another": (
        "def shout(v):\n«    if isinstance(v, list):\n        v = v[0]\n»    return v.upper()\n",
        2, "E       AttributeError: 'list' object has no attribute 'upper'", 12,
    ),
    "isinstance": (
        "def f(v):\n    return «type(v) in (A, B)»isinstance(v, (A, B))»\n", 2, "E       assert not True", 8,
    ),
    "copy": (
        "class S:\n    defaults = {'a': 1}\n\n    def __init__(self):\n"
        "        self.options = «self.defaults»dict(self.defaults)»\n", 5, "E       assert 2 == 1", 30,
    ),
    "second sort key": (
        "def f(rows):\n    return sorted(rows, key=lambda r: «r[1]»(r[1], r[0])»)\n", 2, "E       assert 2 == 1", 30,
    ),
    "strip the line break": (
        "def f(line):\n    return line.«strip()»rstrip(\"\\n\")»\n", 2,
        "E       AssertionError: assert 'a' == ' a'", 12,
    ),
    "from None": (
        "def f(t, k):\n    try:\n        return t[k]\n    except KeyError:\n"
        "        raise LookupError(k)« from None»\n", 5,
        "E       assert False\nE        +  where False = e.__suppress_context__", 5,
    ),
    "the last none": (
        "def f(xs, n):\n    return «xs[-n:]»xs[-n:] if n else []»\n", 2, "E       assert [1, 2] == []", 30,
    ),
    "only where None": (
        "def f(n):\n«    n = n or 10\n»    if n is None:\n        n = 10\n»    return n\n", 2,
        "E       assert 10 == 0", 12,
    ),
    "setdefault": (
        "def f(rows):\n    d = {}\n    for k, v in rows:\n        «d[k].append(v)»d.setdefault(k, []).append(v)»\n"
        "    return d\n", 4, "E       KeyError: 'a'", 12,
    ),
    "gone already": (
        "def f(d, k):\n    «del d[k]»d.pop(k, None)»\n", 2, "E       KeyError: 'a'", 5,
    ),
    "nothing there": (
        "def f(d):\n    a = d.get('a')« or {}»\n    return a.get('b')\n",
        2, "E       AttributeError: 'NoneType' object has no attribute 'get'", 20,
    ),
    "an empty text is no number": (
        "def f(t):\n    return int(t)« if t else 0»\n",
        2, "E       ValueError: invalid literal for int() with base 10: ''", 10,
    ),
    "more values": (
        "def f(t):\n    a, «»*»b = t.split()\n    return a, b\n",
        2, "E       ValueError: too many values to unpack (expected 2)", 8,
    ),
    "the class's value": (
        "class C:\n    wait = 3\n\n    def __init__(self, wait=None):\n"
        "        self.wait = wait« if wait is not None else self.wait»\n", 5, "E       assert None == 3", 30,
    ),
    "one more replace": (
        "def f(t):\n    return t.replace('<', '&lt;')«.replace('>', '&gt;')»\n",
        2, "E       AssertionError: assert 'a>' == 'a&gt;'", 5,
    ),
    "a doubled sign": (
        "def f(a, b):\n    return a«.rstrip(\"/\")» + '/' + b\n",
        2, "E       AssertionError: assert 'a//b' == 'a/b'", 15,
    ),
    "letter case": (
        "def f(a, b):\n    return «a == b»a.lower() == b.lower()»\n", 2,
        "    def test_it():\n>       assert f('A', 'a')\nE       AssertionError: assert False", 8,
    ),
    "a text is one": (
        "def f(tags):\n«    if isinstance(tags, str):\n        tags = [tags]\n»    return [t for t in tags]\n", 2,
        "    def test_it():\n>       assert f('ab') == ['ab']\nE       AssertionError: assert ['a', 'b'] == ['ab']", 15,
    ),
    "a base that is caught": (
        "class Wrong(«Exception»ValueError»):\n    pass\n", 1, "E       ValueError: no\nE       a.Wrong: name", 8,
    ),
    "a setter": (
        "class B:\n    @property\n    def size(self):\n        return self._size\n«\n    @size.setter\n"
        "    def size(self, value):\n        self._size = value\n»",
        1, "E       AttributeError: property 'size' of 'B' object has no setter", 3,
    ),
    "a part of a text": (
        'class P:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n\n    def __repr__(self):\n'
        '        return f"P({self.x}«»{, {self.y!r}}»)"\n'.replace("{, {self.y!r}}", ", {self.y!r}"),
        6, "E       assert 'P(1)' == \"P(1, 'a')\"", 6,
    ),
}  # fmt: skip


def both(marked):
    """The code before and after: «added» or «old»new»."""
    before, after = "", ""
    while "«" in marked:
        plain, _, marked = marked.partition("«")
        one, _, rest = marked.partition("»")
        two, second, after_two = rest.partition("»")
        change = second and "«" not in two
        before, after = before + plain + (one if change else ""), after + plain + (two if change else one)
        marked = after_two if change else rest
    return before + marked, after + marked


def ranked(files, path, line, message, limit=120):
    """(file after, operator) by rank."""
    sources = {name: SourceFile.from_bytes(name, text.encode()) for name, text in files.items()}
    failing = TestResult("test_a.py::test_it", Outcome.FAILED, message=message)
    baseline = Baseline((failing,), {"test_a.py::test_it": {path: frozenset({line})}}, 0.1, "pytest")
    stream = iter_candidates(
        lambda name: sources[name] if name in sources else SourceFile.from_bytes(name, b""),
        [Suspect(path, line, 1.0)],
        baseline=baseline,
    )
    for candidate in itertools.islice(stream, limit):
        yield sources[path].apply(candidate.edits).decode(), candidate.operator


@pytest.mark.parametrize("name", CASES)
def test_reached(name):
    marked, line, message, most = CASES[name]
    before, wanted = both(marked)
    files = [after for after, _ in ranked({"a.py": before}, "a.py", line, message)]
    assert wanted in files
    assert files.index(wanted) < most, files.index(wanted)


def test_all_rows_that_the_calls_of_a_test_show_come_in_one_edit():
    code = (
        'NAMES = {\n    "day": "a day",\n    "days": "{0} days",\n    "month": "a month",\n}\n\n\n'
        "def name(key, count):\n    return NAMES[key].format(count) + ' ago'\n"
    )
    test = (
        "from a import name\n\n\ndef test_it():\n    assert name('days', 2) == '2 days ago'\n"
        "    assert name('week', 1) == 'a week ago'\n    assert name('weeks', 3) == '3 weeks ago'\n"
    )
    wanted = code.replace('    "month"', '    "week": "a week",\n    "weeks": "{0} weeks",\n    "month"')
    found = ranked({"a.py": code, "test_a.py": test}, "a.py", 1, "E       KeyError: 'week'")
    assert wanted in [after for after, _ in itertools.islice(found, 3)]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    y = x\n    return y\n",
        "class A:\n    def __init__(self, x):\n        self.x = x\n",
        'N = {"a": "b", "c": "d"}\n',
    ],
)
def test_silent_without_a_sign(code):
    lines = range(1, code.count("\n") + 1)
    operators = {
        operator
        for line in lines
        for _, operator in ranked({"a.py": code}, "a.py", line, "E       assert 1 == 2")
    }
    assert not operators & {
        "import.more", "state.kept", "statement.super", "member.dunder", "element.rows", "clause.kind", "guard.coerce",
        "function.decorate", "string.complete", "guard.foreign",
    }  # fmt: skip
