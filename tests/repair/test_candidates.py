"""Each row: code, the line to repair, what must be among the results, the operator that makes it."""

import ast
import functools
import time

import pytest

from deskagent.repair.candidates import priors, python
from deskagent.repair.rank import iter_candidates
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult

CASES = [
    ("compare.boundary", "def f(a, b):\n    return a < b\n", 2, "return a <= b"),
    ("compare.flip", "def f(a, b):\n    return a < b\n", 2, "return a > b"),
    ("compare.negate", "def f(a):\n    if a == 1:\n        return 2\n", 2, "if a != 1:"),
    ("compare.identity", "def f(a):\n    return a is 'x'\n", 2, "return a == 'x'"),
    ("compare.operands", "def f(a, b):\n    return a in b\n", 2, "return b in a"),
    ("compare.size", "def f(a):\n    if len(a) == 0:\n        return a\n", 2, "if len(a) <= 1:"),
    ("compare.empty", "def f(a):\n    if not a:\n        return 1\n", 2, "if a is None:"),
    ("arithmetic.operator", "def f(a, b):\n    return (a + b) / 2\n", 2, "return (a + b) // 2"),
    ("arithmetic.augmented", "def f(a, b):\n    a ^= b\n    return a\n", 2, "a &= b"),
    ("arithmetic.operands", "def f(a, b):\n    return a - b\n", 2, "return b - a"),
    ("arithmetic.drop", "def f(a):\n    return 1 + len(a)\n", 2, "return len(a)"),
    ("arithmetic.grouping", "def f(a, b):\n    return a + b / 2\n", 2, "return (a + b) / 2"),
    ("arithmetic.offset", "def f(n):\n    return range(n)\n", 2, "return range(n + 1)"),
    ("arithmetic.offset", "def f(a, i):\n    return a[i]\n", 2, "return a[i - 1]"),
    ("arithmetic.offset", "def f(a):\n    return len(a) * 2\n", 2, "return (len(a) + 1) * 2"),
    ("arithmetic.term", "def f(a, k):\n    n = len(a)\n    g(n)\n    return k\n", 4, "return k - n"),
    ("arithmetic.unused", "def f(a, k):\n    n = len(a)\n    return k\n", 3, "return k / n"),
    (
        "arithmetic.join",
        "def f(a):\n    rest = []\n    return [x for x in a]\n",
        3,
        "return rest + [x for x in a]",
    ),
    ("arithmetic.scale", "def f(a):\n    return 10 - a\n", 2, "return 10 - a ** 2"),
    (
        "arithmetic.augment",
        "def f(a):\n    t = 0\n    for x in a:\n        t = x\n    return t\n",
        4,
        "t += x",
    ),
    ("arithmetic.pair", "def f(a, x, y):\n    a -= x\n    a += y\n", 2, "a += x\n    a -= y"),
    ("constant.integer", "def f(a):\n    return a[0]\n", 2, "return a[1]"),
    ("constant.word", "def f(a):\n    return True\n", 2, "return False"),
    ("constant.collection", "def f(a):\n    return []\n", 2, "return [[]]"),
    ("constant.element", "def f(n):\n    return []\n", 2, "return [n]"),
    ("constant.string", "def f(a):\n    return a.split('')\n", 2, "return a.split(' ')"),
    ("name.variable", "def f(start, end):\n    return start\n", 2, "return end"),
    ("name.builtin", "def f(a):\n    return any(x for x in a)\n", 2, "return all(x for x in a)"),
    (
        "name.function",
        "def get_a(x): return x\ndef get_b(x): return x\ndef f(x):\n    return get_a(x)\n",
        4,
        "return get_b(x)",
    ),
    (
        "name.attribute",
        "class A:\n    def f(self, x):\n        self.x = 1\n        return x\n",
        4,
        "return self.x",
    ),
    ("name.simpler", "def f(a, b):\n    return len(a) + 1\n", 2, "return b + 1"),
    ("name.elsewhere", "def f(a, b, i):\n    x = b[i]\n    return a[0]\n", 3, "return b[i]"),
    ("name.part", "def f(a, k):\n    for x in a:\n        pass\n", 2, "for x in a[k:]:"),
    ("member.swap", "def f(a, b):\n    a.append(b)\n", 2, "a.extend(b)"),
    ("member.attribute", "def f(a):\n    b = a.outgoing\n    return a.incoming\n", 3, "return a.outgoing"),
    ("member.call", "def f(a):\n    return a.items\n", 2, "return a.items()"),
    ("member.rebind", "def f(a):\n    a.strip()\n    return a\n", 2, "a = a.strip()"),
    ("call.order", "def f(a, b):\n    return g(a, b)\n", 2, "return g(b, a)"),
    ("call.fewer", "def f(a, b):\n    return g(a, b)\n", 2, "return g(a)"),
    ("call.more", "def g(a, b=1): pass\ndef f(a, b):\n    return g(a)\n", 3, "return g(a, b=b)"),
    ("call.more", "def f(a):\n    return sorted(a)\n", 2, "return sorted(a, reverse=True)"),
    ("call.unwrap", "def f(a):\n    return list(a)\n", 2, "return a"),
    ("call.wrap", "def f(a):\n    return a\n", 2, "return list(a)"),
    (
        "call.clamp",
        "def f(a):\n    best = 0\n    for x in a:\n        best = x + 1\n    return best\n",
        4,
        "best = max(best, x + 1)",
    ),
    (
        "call.elsewhere",
        "class A:\n    def key(self, n):\n        return n\n    def f(self, n):\n        return n\n",
        5,
        "return self.key(n)",
    ),
    ("call.method", "def f(a):\n    return g(a)\n", 2, "return g(a.strip())"),
    (
        "call.each",
        "def f(a):\n    return a.split(',')\n",
        2,
        "return [part.strip() for part in a.split(',')]",
    ),
    ("call.range", "def f(n):\n    return range(n)\n", 2, "return range(1, n + 1)"),
    ("call.get", "def f(d, k):\n    return d[k]\n", 2, "return d.get(k)"),
    ("call.await", "async def f(g):\n    return g()\n", 2, "return await g()"),
    ("call.star", "def f(*args):\n    return g(args)\n", 2, "return g(*args)"),
    ("index.order", "def f(m, i, j):\n    return m[i, j]\n", 2, "return m[j, i]"),
    ("index.end", "def f(a, i):\n    return a[i]\n", 2, "return a[-1]"),
    ("index.bounds", "def f(a, n):\n    return a[1:n]\n", 2, "return a[:n]"),
    ("condition.connective", "def f(a, b):\n    return a and b\n", 2, "return a or b"),
    ("condition.drop", "def f(a, b):\n    if a and b:\n        return 1\n", 2, "if a:"),
    ("condition.negate", "def f(a):\n    if a.ready():\n        return 1\n", 2, "if not a.ready():"),
    ("condition.positive", "def f(a):\n    if not a:\n        return 1\n", 2, "if a:"),
    ("condition.loop", "def f(q):\n    while True:\n        q.pop()\n", 2, "while q:"),
    (
        "condition.extra",
        "def f(a):\n    if a.next is None:\n        return 1\n",
        2,
        "if a is None or a.next is None:",
    ),
    ("return.truth", "def f(a):\n    depth = 0\n    return True\n", 3, "return depth == 0"),
    ("return.value", "def f(a):\n    b = a\n    return None\n", 3, "return b"),
    ("return.missing", "def f(a):\n    f(a[1:])\n", 2, "return f(a[1:])"),
    (
        "return.missing",
        "class A:\n    def f(self):\n        self.x = 1\n",
        3,
        "self.x = 1\n        return self",
    ),
    ("return.yield", "def f(a):\n    for x in a:\n        yield f(x)\n", 3, "yield from f(x)"),
    (
        "guard.early",
        "def f(a):\n    return a.next\n",
        2,
        "if a is None:\n        return None\n    return a.next",
    ),
    (
        "exception.caught",
        "def f(a):\n    try:\n        return a[0]\n    except KeyError:\n        return 1\n",
        4,
        "except (KeyError, IndexError):",
    ),
    ("exception.raised", "def f(a):\n    raise KeyError(a)\n", 2, "raise ValueError(a)"),
    ("statement.delete", "def f(a):\n    for x in a:\n        g(x)\n        break\n", 4, "g(x)\n"),
    ("statement.swap", "def f(a, b):\n    a.x()\n    b.y()\n", 2, "b.y()\n    a.x()"),
    (
        "statement.outdent",
        "def f(a):\n    for x in a:\n        g(x)\n        return 1\n",
        4,
        "g(x)\n    return 1",
    ),
    ("statement.unconditional", "def f(a):\n    if a:\n        g(a)\n        h(a)\n", 2, "g(a)\n    h(a)"),
    (
        "statement.advance",
        "def f(n):\n    prev = None\n    while n:\n        m = n.next\n        n.next = prev\n        n = m\n",
        5,
        "n.next = prev\n        prev = n",
    ),
    (
        "statement.insert",
        "def f(a):\n    seen = set()\n    for x in a:\n        if x in seen:\n            return x\n",
        4,
        "return x\n        seen.add(x)",
    ),
    (
        "statement.flush",
        "def f(a):\n    part = []\n    for x in a:\n        if x:\n            yield part\n            part = []\n",
        3,
        "part = []\n    if part:\n        yield part",
    ),
    ("string.format", "def f(a):\n    return f'{a}'\n", 2, "return f'{a:02d}'"),
    ("string.pattern", "TIME = '%I:%M'\n", 1, "TIME = '%H:%M'"),
    ("string.pattern", "import re\nP = re.compile(r'[a-z]*')\n", 2, "P = re.compile(r'[a-z]+')"),
]


@functools.cache
def run(code, line, *, message="", limit=3000):
    source = SourceFile.from_bytes("x.py", code.encode())
    baseline = Baseline((TestResult("t", Outcome.FAILED, 0.0, message),), {}, 1.0)
    made = []
    for candidate in iter_candidates(lambda _: source, [Suspect("x.py", line, 1.0)], baseline=baseline):
        made.append((candidate, source.apply(candidate.edits).decode()))
        if len(made) >= limit:
            break
    return made


@pytest.mark.parametrize(
    ("operator", "code", "line", "wanted"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_operator(operator, code, line, wanted):
    made = run(code, line)
    fitting = [candidate for candidate, text in made if wanted in text]
    assert fitting, f"no {wanted!r}"
    assert operator in {candidate.operator for candidate in fitting}
    place = made.index(next(pair for pair in made if wanted in pair[1]))
    assert place < 220


@pytest.mark.parametrize(("operator", "code", "line", "wanted"), CASES[::4])
def test_every_candidate_compiles_differs_and_comes_once(operator, code, line, wanted):
    made = run(code, line)
    dumps = [ast.dump(ast.parse(text)) for _, text in made]
    assert ast.dump(ast.parse(code)) not in dumps
    assert len({candidate.key for candidate, _ in made}) == len(made)
    assert len({text for _, text in made}) == len(made)
    assert all(0 < candidate.prior <= 1 and candidate.note for candidate, _ in made)


def test_every_operator_has_a_prior_and_the_table_names_real_kinds():
    seen = {candidate.operator for _, code, line, _ in CASES for candidate, _ in run(code, line)}
    assert {name for name in seen if not name.startswith("pair.")} <= set(priors.OPERATORS)
    assert {case[0] for case in CASES} <= seen
    import tree_sitter
    import tree_sitter_python

    grammar = tree_sitter.Language(tree_sitter_python.language())
    known = {grammar.node_kind_for_id(i) for i in range(grammar.node_kind_count)} | {"statement"}
    assert set(python.TABLE) <= known


def test_insertions_keep_line_ends_tabs_and_a_missing_last_line_end():
    code = "def f(a):\r\n\tif a.x:\r\n\t\treturn a.y"
    texts = [text for _, text in run(code, 3)]
    assert any(text.endswith("\t\tif a is None:\r\n\t\t\treturn None\r\n\t\treturn a.y") for text in texts)
    assert all("\n" not in text.replace("\r\n", "") for text in texts)
    assert not any(text.endswith("\n") for text in texts)


def test_docstrings_annotations_and_comments_are_left_alone():
    code = 'def f(a: int = 1) -> int:\n    """a < b"""  # a < b\n    return a\n'
    for line in (1, 2, 3):
        for _, text in run(code, line):
            assert '"""a < b"""' in text and "a: int" in text and "-> int" in text


def test_elements_that_a_failing_test_shows_are_added():
    made = run('VOID = {\n    "br",\n    "img",\n}\n', 1, message="assert 'hr' in VOID")
    assert any('    "img",\n    "hr",\n}' in text for _, text in made)


@pytest.mark.parametrize(
    ("code", "line", "wanted"),
    [
        ("def f(x)\n    return x\n", 1, "def f(x):"),
        ("def f(x):\n    return (x\n", 2, "return (x)"),
        ("if x = 1:\n    pass\n", 1, "if x == 1:"),
        ("def f(x):\n   y = 1\n    return x\n", 3, "\n   return x"),
        ("def f(x):\n", 1, "pass"),
        ("x = 'a\n", 1, "x = 'a'"),
    ],
)
def test_a_file_that_does_not_parse(code, line, wanted):
    made = run(code, line)
    assert any(wanted in text for _, text in made)
    for _, text in made:
        ast.parse(text)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "\n",
        "x",
        "print 'old'\n",
        "match x:\n    case [1, *_]:\n        y = 1\n",
        "lambda: (yield)\n",
        "class A: x = 1; y = 2\n",
        "if x: y = 1\nelse: y = 2\n",
        "async def f():\n    async with a as b, c: pass\n",
        "@d\ndef f(): pass\n",
        "x = [\n",
        "\tx = 1\n",
        "f'{x!r:>{w}}'\n",
    ],
)
def test_odd_code_is_no_trouble(code):
    lines = range(1, len(code.splitlines()) + 1)
    total = sum(len(run(code, line)) for line in lines)
    assert total >= 0
    assert Syntax(SourceFile.from_bytes("x.py", code.encode())).root.kind in {"module", "ERROR"}


@pytest.mark.parametrize(
    "code",
    [
        "def f(a):\n    return " + " + ".join(["a"] * 1500) + "\n",
        "def f(a):\n    return a" + ".b" * 500 + "\n",
        "\nX = [" + ", ".join(map(str, range(5000))) + "]\n",
        "def f("
        + ", ".join(f"a{i}" for i in range(150))
        + "):\n    return g("
        + ", ".join(f"a{i}" for i in range(150))
        + ")\n",
    ],
    ids=["sum", "chain", "table", "arguments"],
)
def test_huge_statements_end_in_time(code):
    started = time.monotonic()
    made = run(code, 2, limit=30)
    assert made and time.monotonic() - started < 60
