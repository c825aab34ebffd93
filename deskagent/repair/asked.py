"""What the tests ask of the code, read from their source: errors with their messages, and calls with the values that
are handed in and wanted, of failing and of passing tests.

Nothing is run: values are those that stand in the source, in the rows of `parametrize`, and in a failure's message.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from deskagent.repair.one_test import Call, Function, OneTest, Raised, last
from deskagent.repair.types import Baseline, TestResult
from deskagent.repair.values import Env, known, settle

_BOUND = re.compile(r"^([^\W\d]\w*) += (.{1,300})$", re.MULTILINE)
_TOO_ODD = (RecursionError, ValueError)
"""From expressions that are nested too deep to be walked, and from numbers too long to be written: such a test says
nothing here."""
MAX_TESTS, MAX_CALLS, MAX_FILES, MAX_SIZE = 60, 200, 20, 400_000
"""Tests of either sort, calls of either sort, test files, and characters of one, that are looked at."""


@dataclass(frozen=True)
class Asked:
    """`failing` are calls that failing tests make and `passing` those that work; `bound` are values of the failing
    tests' own parameters, by name."""

    raises: tuple[Raised, ...] = ()
    failing: tuple[Call, ...] = ()
    passing: tuple[Call, ...] = ()
    bound: Mapping[str, tuple[object, ...]] | None = None


def read_asked(baseline: Baseline | None, read: Callable[[str], str | None]) -> Asked:
    """What the tests of `baseline` ask; `read` gives a project-relative file's text, None where it can't be read."""
    if baseline is None or not baseline.failing:
        return Asked()
    files = _Files(baseline, read)
    raises: dict[Raised, None] = {}
    failing: list[Call] = []
    passing: list[Call] = []
    bound: dict[str, list[object]] = defaultdict(list)
    for result in baseline.failing[:MAX_TESTS]:
        for tree, function in files.of(result):
            with suppress(*_TOO_ODD):
                env = {**files.constants(tree), **files.row(result, function), **_message_values(result)}
                own = {argument.arg for argument in function.args.args}
                for name in own & env.keys():
                    bound[name].append(env[name])
                test = OneTest(function, env, files.imports(tree))
                raises |= dict.fromkeys(test.raises())
                test.note(failing, passing)
    near = {_file(result.id) for result in baseline.failing}
    for result in sorted(baseline.passing, key=lambda result: _file(result.id) not in near)[:MAX_TESTS]:
        for tree, function in files.of(result):
            good: list[Call] = []
            with suppress(*_TOO_ODD):
                env = {**files.constants(tree), **files.row(result, function)}
                OneTest(function, env, {}).note(good, good)
            passing += [call for call in good if not call.raises]
    return Asked(
        tuple(raises),
        tuple(failing[:MAX_CALLS]),
        tuple(passing[:MAX_CALLS]),
        {n: tuple(v) for n, v in bound.items()},
    )


class _Files:
    """The test files, read and parsed once."""

    def __init__(self, baseline: Baseline, read: Callable[[str], str | None]) -> None:
        self._baseline, self._read = baseline, read
        self._trees: dict[str, ast.Module | None] = {}
        self._imported: dict[ast.Module, dict[str, str]] = {}
        self._rows: dict[str, list[str]] = defaultdict(list)
        for result in baseline.results:
            self._rows[result.id.partition("[")[0]].append(result.id)

    def of(self, result: TestResult) -> Iterator[tuple[ast.Module, Function]]:
        """The function of a test with its file."""
        name, owner = _names(result.id)
        for path in dict.fromkeys([*_paths(result.id), *self._baseline.coverage.get(result.id, ())]):
            tree = self._tree(path)
            found = list(_functions(tree, name, owner)) if tree is not None else []
            if tree is not None and found:
                yield tree, found[0]
                return

    def _tree(self, path: str) -> ast.Module | None:
        if path not in self._trees and len(self._trees) < MAX_FILES:
            text = self._read(path) if path.endswith(".py") else None
            self._trees[path] = _parsed(text) if text is not None and len(text) <= MAX_SIZE else None
        return self._trees.get(path)

    def imports(self, tree: ast.Module) -> dict[str, str]:
        """As `_imports`, once a file: hundreds of failing tests may stand in a large one."""
        if tree not in self._imported:
            self._imported[tree] = _imports(tree)
        return self._imported[tree]

    def constants(self, tree: ast.Module) -> Env:
        env: Env = {}
        for statement in tree.body:
            settle(statement, env)
        return env

    def row(self, result: TestResult, function: Function) -> Env:
        """Values of the one `parametrize` that a test is decorated with, by the test's place among its like."""
        ids = self._rows[result.id.partition("[")[0]]
        tables = [
            d for d in function.decorator_list if isinstance(d, ast.Call) and last(d.func) == "parametrize"
        ]
        if len(tables) != 1 or len(tables[0].args) < 2:
            return {}
        names, rows = known(tables[0].args[0], {}), tables[0].args[1]
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",")]
        if not isinstance(names, (list, tuple)) or not isinstance(rows, (ast.List, ast.Tuple)):
            return {}
        if len(rows.elts) != len(ids):
            return {}
        node = rows.elts[ids.index(result.id)]
        if isinstance(node, ast.Call) and last(node.func) == "param":
            parts: list[ast.expr] = list(node.args)
        else:
            parts = list(node.elts) if len(names) > 1 and isinstance(node, (ast.Tuple, ast.List)) else [node]
        return {str(name): known(part, {}) for name, part in zip(names, parts, strict=False)}


def _file(test: str) -> str:
    """What a test's id has before its function's name."""
    return test.partition("::")[0] if "::" in test else test.rpartition(".")[0]


def _names(test: str) -> tuple[str, str]:
    """(function, class or "") of a test's id, pytest's or unittest's."""
    parts = re.split(r"::|\.(?!py\b)", test.partition("[")[0])
    return parts[-1], parts[-2] if len(parts) > 1 and parts[-2][:1].isupper() else ""


def _paths(test: str) -> Iterator[str]:
    """Files that a test's id may mean."""
    head, colons, _ = test.partition("::")
    if colons:
        yield head
        return
    parts = test.partition("[")[0].split(".")[:-1]
    while parts:
        yield "/".join(parts) + ".py"
        parts = parts[:-1]


def _functions(tree: ast.Module, name: str, owner: str) -> Iterator[Function]:
    for node in tree.body:
        if isinstance(node, Function) and node.name == name and not owner:
            yield node
        if isinstance(node, ast.ClassDef) and node.name == owner:
            yield from (part for part in node.body if isinstance(part, Function) and part.name == name)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _message_values(result: TestResult) -> Env:
    """The test's arguments as pytest prints them before its source."""
    head = re.split(r"^[> ] .*\bdef ", result.message, maxsplit=1, flags=re.MULTILINE)[0]
    found: Env = {}
    for name, text in _BOUND.findall(head):
        try:
            found[name] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return found


def _imports(tree: ast.Module) -> dict[str, str]:
    """Name in the test file → the module that it comes from."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found.update({alias.asname or alias.name: module for alias in node.names})
        elif isinstance(node, ast.Import):
            found.update({alias.asname or alias.name: alias.name for alias in node.names})
    return found
