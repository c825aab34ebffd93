"""What functions are called with: the examples of their docstrings, and values made up by the names of parameters."""

from __future__ import annotations

import ast
import doctest
import random
import re

from engine.train.bugs.source import FUNCTIONS

_NUMBERS = ("0", "1", "2", "3", "5", "7", "10", "12", "-1", "-3", "100", "4", "6", "8", "2.5")
_TEXTS = (
    "''", "'a'", "'abc'", "'a b c'", "'a,b'", "'Hello World'", "' x '", "'12'", "'3.5'", "'a/b/c.txt'", "'key=value'",
    "'foo_bar'", "'FooBar'", "'a: b'", "'one\\ntwo\\n'", "'x-y'", "'2024-01-02'", "'http://a.org/b?c=d'",
    "'\"q\"'", "'1.2.3'",
)  # fmt: skip
_LISTS = (
    "[]", "[1]", "[1, 2, 3]", "[3, 1, 2]", "['a', 'b']", "[1, 1, 2]", "[0, -1, 5, 5]", "[[1, 2], [3]]", "(1, 2)",
    "['b', 'a', 'c']", "[(1, 'a'), (2, 'b')]",
)  # fmt: skip
_DICTS = ("{}", "{'a': 1}", "{'a': 1, 'b': 2}", "{'x': [1, 2]}")
_OTHERS = ("None", "True", "False", "b'abc'", "b''")
_BY_NAME = (
    (
        r"^([a-bi-kmnpqvx-z]|num|number|count|size|width|start|end|index|year|month|day|value|lo|hi|pos|offset|length|level|base)$",
        _NUMBERS,
    ),
    (r"s$|list|seq|items|iter|data|values|array|xs|args|lst", _LISTS + _TEXTS[:6]),
    (r"dict|map|mapping|d$|kw|opts|options|params", _DICTS),
    (
        r"s$|str|text|line|name|path|url|key|word|char|sep|prefix|suffix|title|token|expr|pattern|source|code|version",
        _TEXTS,
    ),
)  # fmt: skip
_CALLS = 36


def groups(
    node: ast.FunctionDef | ast.AsyncFunctionDef, rng: random.Random, *, method: bool
) -> list[list[str]]:
    """Sources to run, in groups that share their names."""
    found: list[list[str]] = []
    said = ast.get_docstring(node, clean=True) or ""
    if ">>>" in said:
        try:
            examples = [each.source.strip() for each in doctest.DocTestParser().get_examples(said)]
        except ValueError:
            examples = []
        found.append([each for each in examples if not each.startswith(("print", "import os"))])
    return found if method else [*found, *([call] for call in _calls(node, rng))]


def _calls(node: ast.FunctionDef | ast.AsyncFunctionDef, rng: random.Random) -> list[str]:
    given = node.args
    needed = [*given.posonlyargs, *given.args][
        : len(given.posonlyargs) + len(given.args) - len(given.defaults)
    ]
    optional = given.args[len(given.args) - len(given.defaults) :] if given.defaults else []
    if not 1 <= len(needed) + min(1, len(optional)) <= 4 or any(each is None for each in given.kw_defaults):
        return []
    calls: dict[str, None] = {}
    for _ in range(_CALLS):
        params = needed + (optional[:1] if (optional and rng.random() < 0.4) or not needed else [])
        calls[f"{node.name}({', '.join(rng.choice(_pool(each.arg, rng)) for each in params)})"] = None
    return list(calls)


def _pool(name: str, rng: random.Random) -> tuple[str, ...]:
    fitting = [pool for pattern, pool in _BY_NAME if re.search(pattern, name)]
    if fitting and rng.random() < 0.9:
        return rng.choice(fitting)
    return rng.choice((_NUMBERS, _TEXTS, _LISTS, _DICTS, _OTHERS))


def functions(tree: ast.Module) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Functions of a module, and methods (True) of its classes."""
    found: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, bool]] = []
    for node in tree.body:
        if isinstance(node, FUNCTIONS):
            found.append((node, False))
        elif isinstance(node, ast.ClassDef):
            found += [(each, True) for each in node.body if isinstance(each, FUNCTIONS)]
    return found
