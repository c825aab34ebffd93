import itertools

import pytest

from deskagent.repair.rank import iter_candidates, iter_ranked
from deskagent.repair.source import SourceError, SourceFile
from deskagent.repair.types import Baseline, Outcome, Suspect, TestResult

CODE = "\n".join(f"def f{i}(a, b):\n    c = a < b\n    return c\n" for i in range(60)).encode()


def reader(files):
    def read(path):
        if path not in files:
            raise SourceError(f"{path} isn't there")
        return SourceFile.from_bytes(path, files[path])

    return read


def failing(message=""):
    return Baseline((TestResult("t", Outcome.FAILED, 0.0, message),), {}, 1.0)


def test_it_is_lazy():
    read = []

    def reading(path):
        read.append(path)
        return SourceFile.from_bytes(path, b"def f(a, b):\n    return a < b\n")

    suspects = [Suspect(f"m{i}.py", 2, 1.0 if i == 0 else 0.01) for i in range(50)]
    stream = iter_candidates(reading, suspects)
    assert read == []
    assert next(stream).path == "m0.py"
    assert len(read) == 1, "only the most suspicious file was looked at"


def test_no_place_is_opened_once_it_is_over():
    suspects = [Suspect("x.py", 4 * i + 2, 1.0) for i in range(10)]
    ends = []
    stream = iter_ranked(reader({"x.py": CODE}), suspects, over=lambda: bool(ends))
    first = next(stream)
    ends.append(True)
    assert first.candidate.key and list(stream) == []


def test_more_suspicious_places_come_first_but_not_alone():
    suspects = [Suspect("x.py", 4 * i + 2, 1.0 if i == 5 else 0.2) for i in range(10)]
    made = list(itertools.islice(iter_candidates(reader({"x.py": CODE}), suspects), 80))
    assert made[0].line == 22
    assert sum(c.line == 22 for c in made[:10]) >= 3
    assert len({c.line for c in made}) == 10, "the others get their turn"


def test_keys_are_unique_and_a_place_named_twice_counts_once():
    suspects = [Suspect("x.py", 2, 1.0), Suspect("x.py", 2, 0.9), Suspect("x.py", 3, 0.5)]
    keys = [c.key for c in iter_candidates(reader({"x.py": CODE}), suspects)]
    assert len(keys) == len(set(keys)) > 50


def test_same_input_same_order():
    suspects = [Suspect("x.py", line, 0.5) for line in range(1, 40)]
    one, two = (
        [c.key for c in itertools.islice(iter_candidates(reader({"x.py": CODE}), suspects), 300)]
        for _ in range(2)
    )
    assert one == two


def test_unreadable_files_and_lines_without_statement_are_passed_over():
    suspects = [
        Suspect("gone.py", 1, 1.0),
        Suspect("x.py", 999, 1.0),
        Suspect("x.py", 4, 1.0),
        Suspect("x.py", 2, 0.1),
    ]
    assert next(iter_candidates(reader({"x.py": CODE}), suspects)).line == 2
    assert list(iter_candidates(reader({}), suspects)) == []
    assert list(iter_candidates(reader({}), [])) == []


def test_a_scorer_decides_the_order():
    class Longest:
        def score(self, context, candidates):
            assert context.source.path == "x.py" and context.place.statement.line == 2
            return [float(sum(len(edit.new) for edit in c.edits)) for c in candidates]

    made = list(
        itertools.islice(
            iter_candidates(reader({"x.py": CODE}), [Suspect("x.py", 2, 1.0)], scorer=Longest()), 5
        )
    )
    lengths = [sum(len(edit.new) for edit in c.edits) for c in made]
    assert lengths[0] >= 30


def first(code, line, wanted, message="", request=""):
    source = SourceFile.from_bytes("x.py", code.encode())
    stream = iter_candidates(
        lambda _: source, [Suspect("x.py", line, 1.0)], request=request, baseline=failing(message)
    )
    return next(i for i, c in enumerate(stream, 1) if wanted in source.apply(c.edits).decode())


@pytest.mark.parametrize(
    ("code", "line", "wanted", "message"),
    [
        ("def f(a, count, unused):\n    x = count\n    return a + count\n", 3, "a + unused", ""),
        (
            "def f(n):\n    if n.left is None:\n        return 1\n",
            2,
            "n is None or n.left",
            "AttributeError: 'NoneType' object has no attribute 'left'",
        ),
        (
            "def f(total):\n    return totl\n",
            2,
            "return total",
            "NameError: name 'totl' is not defined. Did you mean: 'total'?",
        ),
        ("def f(d, k):\n    return d[k] + 1\n", 2, "d.get(k, 0)", "KeyError: 'x'"),
        ("def f(q):\n    while True:\n        q.pop()\n", 2, "while q:", "IndexError: pop from empty list"),
    ],
)
def test_signs_bring_the_right_edit_forward(code, line, wanted, message):
    assert first(code, line, wanted, message) <= 10


def test_signs_help():
    code = "def f(first, second, third):\n    return g(first) + first\n"
    plain = first(code, 2, "+ third")
    assert first(code, 2, "+ third", request="third is ignored") <= plain
    error = "def f(a):\n    return a.left.right\n"
    assert first(
        error, 2, "if a is None", "AttributeError: 'NoneType' object has no attribute 'left'"
    ) < first(error, 2, "if a is None")


def test_silly_edits_come_late():
    code = "def f(low, high):\n    return low < high\n"
    assert first(code, 2, "high < high") > first(code, 2, "low <= high") + 10
