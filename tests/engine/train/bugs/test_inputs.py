from __future__ import annotations

import ast
import random

import pytest

from engine.train.bugs import inputs
from engine.train.bugs.needs import importable
from engine.train.bugs.pools import pool
from engine.train.corpus.files import Document

TEXT = '''
def f(n, *, a=1):
    """
    >>> f(3)
    3
    """


def g(many: list[str], flag: bool = False): yield 1


class A:
    def __init__(self, n): pass
    def h(self): pass
    def __len__(self): pass
    @property
    def size(self): pass
    @staticmethod
    def s(text): pass
'''


def calls(name: str) -> list[list[str]]:
    tree = ast.parse(TEXT)
    (found,) = [each for each in inputs.functions(tree) if each[0].name == name]
    return inputs.groups(*found, inputs.examples(tree), random.Random(1))


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("f", "f(", ")"),
        ("g", "list(g(", "))"),
        ("h", "A(", ").h()"),
        ("__len__", "len(A(", "))"),
        ("s", "A.s(", ")"),
    ],
)
def test_calls_fit_parameters(name, start, end):
    found = [each for group in calls(name) for each in group]
    assert found and all(each.startswith(start) and each.endswith(end) for each in found)
    for each in found:
        ast.parse(each, mode="eval")


def test_examples_are_run_and_objects_made_nowhere_else():
    assert calls("f")[0] == ["f(3)"]
    assert calls("size")[0][0].endswith(").size")
    assert calls("__init__") == []


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [("int", int), ("str", str), ("list[str]", list), ("dict[str, int]", dict), ("bool", bool)],
)
def test_values_are_mostly_of_the_type_that_is_said(annotation, kind):
    rng = random.Random(2)
    node = ast.parse(annotation, mode="eval").body
    values = [ast.literal_eval(rng.choice(pool("x", node, None, rng))) for _ in range(200)]
    assert sum(isinstance(value, kind) for value in values) > 170


def test_a_file_is_run_where_all_that_it_imports_is_there():
    texts = {
        "p/__init__.py": "from p.a import x\n",
        "p/a.py": "import json\nfrom . import b\nimport p.b as c\n",
        "p/b.py": "try:\n    import lost\nexcept ImportError:\n    pass\n",
        "p/c.py": "import nothing_like_it\n",
        "p/d.py": "from p.c import y\n",
        "p/e.py": "from .missing import z\n",
    }
    documents = [Document("p", path, "python", text) for path, text in texts.items()]
    assert importable(documents) == {("p", "p/__init__.py"), ("p", "p/a.py"), ("p", "p/b.py")}
