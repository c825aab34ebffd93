"""What functions are called with: examples of docstrings, and values made up by types, names and constants."""

from __future__ import annotations

import ast
import doctest
import random
from collections.abc import Sequence

from engine.train.bugs.pools import pool
from engine.train.bugs.source import FUNCTIONS

_CALLS, _MAKES = 40, 4
"""Calls of a function, and ways in which an object is made for them, at most."""
_OPTIONAL = 0.4
"""Share of parameters with a default that are given."""
_MOST = 6
"""Parameters."""
_SPECIAL = {
    "__len__": "len({0})", "__str__": "str({0})", "__repr__": "repr({0})", "__bool__": "bool({0})",
    "__getitem__": "{0}[{1}]", "__contains__": "{1} in {0}", "__eq__": "{0} == {1}", "__lt__": "{0} < {1}",
    "__add__": "{0} + {1}", "__sub__": "{0} - {1}", "__mul__": "{0} * {1}", "__call__": "{0}({1})",
    "__iter__": "list({0})", "__int__": "int({0})", "__float__": "float({0})", "__neg__": "-{0}",
}  # fmt: skip
"""How Python calls a method: {0} the object, {1} its argument."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.Module) -> list[tuple[ast.FunctionDef, ast.ClassDef | None]]:
    """Functions of a module, and methods with their class."""
    found: list[tuple[ast.FunctionDef, ast.ClassDef | None]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append((node, None))
        elif isinstance(node, ast.ClassDef):
            found += [(each, node) for each in node.body if isinstance(each, ast.FunctionDef)]
    return found


def examples(tree: ast.Module) -> list[list[str]]:
    """Sources of the examples of each docstring of a file."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            continue
        said = ast.get_docstring(node, clean=True) or ""
        if ">>>" in said:
            try:
                sources = [each.source.strip() for each in doctest.DocTestParser().get_examples(said)]
            except ValueError:
                continue
            found.append([each for each in sources if not each.startswith("print")])
    return found


def groups(
    node: ast.FunctionDef, owner: ast.ClassDef | None, shown: Sequence[Sequence[str]], rng: random.Random
) -> list[list[str]]:
    """Sources to run, in groups that share their names. shown: those of docstrings."""
    found = [list(each) for each in shown if any(node.name in source for source in each)][:3]
    calls: dict[str, None] = {}
    for _ in range(_CALLS):
        call = _call(node, owner, rng)
        if call is None:
            break
        calls[call] = None
    return [*found, *([call] for call in calls)]


def _call(node: ast.FunctionDef, owner: ast.ClassDef | None, rng: random.Random) -> str | None:
    marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    if owner is None:
        given = _arguments(node, rng, 0)
        return None if given is None else _ended(node, f"{node.name}({given})")
    if "staticmethod" in marks or "classmethod" in marks:
        given = _arguments(node, rng, 0 if "staticmethod" in marks else 1)
        return None if given is None else _ended(node, f"{owner.name}.{node.name}({given})")
    made, given = _made(owner, rng), _arguments(node, rng, 1)
    if made is None or given is None or node.name in ("__init__", "__new__"):
        return None
    if node.name in _SPECIAL:
        return _SPECIAL[node.name].format(made, given)
    if node.name.startswith("__"):
        return None
    if marks & {"property", "cached_property"}:
        return f"{made}.{node.name}"
    return None if "setter" in marks else _ended(node, f"{made}.{node.name}({given})")


def _ended(node: ast.FunctionDef, call: str) -> str:
    """A call of a generator is one that takes all it has."""
    yields = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))
    return f"list({call})" if yields else call


def _made(owner: ast.ClassDef, rng: random.Random) -> str | None:
    """An object of a class, made in one of a few ways."""
    ways = random.Random(f"{owner.name} {rng.randrange(_MAKES)}")
    makers = [
        each for each in owner.body if isinstance(each, FUNCTIONS) and each.name in ("__init__", "__new__")
    ]
    if makers:
        given = _arguments(makers[0], ways, 1)
        return None if given is None else f"{owner.name}({given})"
    if any(
        "dataclass" in ast.unparse(mark) or "define" in ast.unparse(mark) for mark in owner.decorator_list
    ):
        fields = [each for each in owner.body if isinstance(each, ast.AnnAssign) and each.value is None]
        values = [
            one_of(ways, pool(ast.unparse(each.target), each.annotation, None, ways)) for each in fields
        ]
        return f"{owner.name}({', '.join(values)})" if len(fields) <= _MOST else None
    return f"{owner.name}()"


def one_of(rng: random.Random, values: Sequence[str]) -> str:
    return values[rng.randrange(len(values))]


def _arguments(node: Function, rng: random.Random, skipped: int) -> str | None:
    """Arguments of one call; None where there are too many. skipped: parameters that Python fills."""
    given = node.args
    every = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(every) - len(given.defaults)), *given.defaults]
    pairs = list(zip(every, defaults, strict=True))[skipped:]
    if sum(default is None for _, default in pairs) > _MOST:
        return None
    constants = _constants(node)
    words: list[str] = []
    named = False
    for parameter, default in pairs:
        if default is not None and rng.random() > _OPTIONAL:
            named = True
            continue
        value = _value(parameter, default, constants, rng)
        words.append(f"{parameter.arg}={value}" if named else value)
    if given.vararg and not named:
        words += [_value(given.vararg, None, constants, rng) for _ in range(rng.randrange(4))]
    for parameter, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if default is None or rng.random() < _OPTIONAL:
            words.append(f"{parameter.arg}={_value(parameter, default, constants, rng)}")
    return ", ".join(words)


def _value(parameter: ast.arg, default: ast.expr | None, constants: list[str], rng: random.Random) -> str:
    if constants and parameter.annotation is None and rng.random() < 0.2:
        return rng.choice(constants)
    return one_of(rng, pool(parameter.arg, parameter.annotation, default, rng))


def _constants(node: Function) -> list[str]:
    """Texts and numbers that a function's code names: what it has to tell apart."""
    found = {
        repr(each.value)
        for statement in node.body[1:] or node.body
        for each in ast.walk(statement)
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str | int | bytes)
        and len(repr(each.value)) <= 16
    }
    return sorted(found)
