"""Tests that somebody may have written of what a function does."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping
from typing import Any

_FORMS: dict[str, float] = {"plain": 46, "name": 16, "table": 12, "wanted": 6, "turned": 3, "case": 17}
"""How a test is written → share."""
RUNNERS: dict[str, tuple[str, float]] = {"pytest": ("", 84), "unittest": ("case", 9), "script": ("bare", 7)}
"""Who runs it → the only form that it takes, and the share."""
_RESULTS = ("result", "got", "actual", "res", "out", "value", "r", "x", "output", "ret")
_WANTED = ("expected", "wanted", "want", "correct", "exp", "target")
_GIVEN = ("value", "data", "given", "arg", "source", "text", "test_input", "raw", "inp", "n")
_SAMENESS = 0.6
"""Share of booleans asserted by themselves, not by `is`."""
Fact = Mapping[str, Any]


def runner(rng: random.Random) -> str:
    return rng.choices(list(RUNNERS), [share for _, share in RUNNERS.values()])[0]


def said(fact: Fact, module: str, names: list[str], runner: str, rng: random.Random) -> str:
    """The text of a file with one test that holds where the fact does. names: what it takes from the module."""
    form = RUNNERS[runner][0] or rng.choices(list(_FORMS), list(_FORMS.values()))[0]
    lines = _WRITE[form](fact, rng)
    about = (names or [module.rpartition(".")[2]])[0].strip("_")
    name = f"test_{about.lower()}"
    imports = [f"from {module} import {', '.join(names)}"] if names else []
    if form == "bare":
        return "\n".join([*imports, "", *lines, ""])
    if form == "case":
        head = [f"class Test{about.title().replace('_', '')}(unittest.TestCase):", f"    def {name}(self):"]
        return "\n".join(["import unittest", "", *imports, "", "", *head, *_inner(lines, 8), ""])
    marks = [line for line in lines if line.startswith("@")]
    body = [line for line in lines if not line.startswith("@")]
    taken = ", ".join(marks[0].split('"')[1:2]) if marks else ""
    return "\n".join(
        ["import pytest", "", *imports, "", "", *marks, f"def {name}({taken}):", *_inner(body, 4), ""]
    )


def _inner(lines: list[str], columns: int) -> list[str]:
    return [" " * columns + row if row else row for line in lines for row in line.split("\n")]


def _plain(fact: Fact, rng: random.Random) -> list[str]:
    return [*fact["before"], *_claim(fact, fact["source"], rng, "with pytest.raises({}):")]


def _bare(fact: Fact, rng: random.Random) -> list[str]:
    if fact["raises"]:
        caught = [
            f"except {fact['raises']}:",
            "    pass",
            "else:",
            f'    raise AssertionError("{fact["raises"]} not raised")',
        ]
        return [*fact["before"], "try:", f"    {fact['source']}", *caught]
    return [*fact["before"], *_claim(fact, fact["source"], rng, "")]


def _claim(fact: Fact, source: str, rng: random.Random, raising: str) -> list[str]:
    value = fact["value"]
    if fact["raises"]:
        return [raising.format(fact["raises"]), f"    {fact['source']}"]
    if value is None:
        return [source if rng.random() < 0.6 else f"{rng.choice(_RESULTS)} = {source}"]
    if value in ("True", "False") and rng.random() < _SAMENESS:
        return [f"assert {source}" if value == "True" else f"assert not {source}"]
    operator = "is" if value in ("True", "False", "None") else "=="
    return [f"assert {source} {operator} {value}"]


def _name(fact: Fact, rng: random.Random) -> list[str]:
    if fact["raises"] or fact["value"] is None:
        return _plain(fact, rng)
    name = rng.choice([each for each in _RESULTS if each not in fact["source"]] or ["result"])
    return [*fact["before"], f"{name} = {fact['source']}", *_claim(fact, name, rng, "")]


def _wanted(fact: Fact, rng: random.Random) -> list[str]:
    if fact["raises"] or fact["value"] is None or fact["value"] in ("True", "False", "None"):
        return _plain(fact, rng)
    name = rng.choice([each for each in _WANTED if each not in fact["source"]] or ["wanted"])
    return [*fact["before"], f"{name} = {fact['value']}", f"assert {fact['source']} == {name}"]


def _turned(fact: Fact, rng: random.Random) -> list[str]:
    if fact["raises"] or fact["value"] is None or fact["value"] in ("True", "False", "None"):
        return _plain(fact, rng)
    return [*fact["before"], f"assert {fact['value']} == {fact['source']}"]


def _table(fact: Fact, rng: random.Random) -> list[str]:
    call = _literals(fact["source"])
    if fact["raises"] or fact["value"] is None or fact["before"] or call is None:
        return _plain(fact, rng)
    function, values = call
    wanted = rng.choice(_WANTED)
    names = [rng.choice(_GIVEN)] if len(values) == 1 else list("abcdefgh"[: len(values)])
    row = ", ".join([*values, fact["value"]])
    return [
        f'@pytest.mark.parametrize("{", ".join([*names, wanted])}", [({row})])',
        f"assert {function}({', '.join(names)}) == {wanted}",
    ]


def _literals(source: str) -> tuple[str, list[str]] | None:
    """A call's function and arguments, where those are plain."""
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(tree, ast.Call) or tree.keywords or not 1 <= len(tree.args) <= 8:
        return None
    if not isinstance(tree.func, ast.Name | ast.Attribute):
        return None
    try:
        for each in tree.args:
            ast.literal_eval(each)
    except ValueError:
        return None
    return ast.unparse(tree.func), [ast.unparse(each) for each in tree.args]


def _case(fact: Fact, rng: random.Random) -> list[str]:
    value, source = fact["value"], fact["source"]
    if fact["raises"]:
        return [*fact["before"], f"with self.assertRaises({fact['raises']}):", f"    {source}"]
    if value is None:
        return [*fact["before"], source]
    if value in ("True", "False", "None"):
        word = {"True": "assertTrue", "False": "assertFalse", "None": "assertIsNone"}[value]
        return [*fact["before"], f"self.{word}({source})"]
    if rng.random() < 0.2:
        name = rng.choice(_RESULTS)
        return [*fact["before"], f"{name} = {source}", f"self.assertEqual({name}, {value})"]
    both = [source, value] if rng.random() < 0.8 else [value, source]
    return [*fact["before"], f"self.assertEqual({', '.join(both)})"]


_WRITE: dict[str, Callable[[Fact, random.Random], list[str]]] = {
    "plain": _plain, "bare": _bare, "name": _name, "wanted": _wanted, "turned": _turned, "table": _table, "case": _case,
}  # fmt: skip
