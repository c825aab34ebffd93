"""A parsed part of a Python file whose nodes know where they stand in the text, so that it is edited in place."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound=ast.AST)
_BODIES = ("body", "orelse", "finalbody")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.While, ast.AsyncFor)


def parse(text: str) -> ast.Module | None:
    """A part as it stands in its file, indented or not; a line is put above an indented one. None where it can't be."""
    indented = text[:1] in (" ", "\t")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse("if 1:\n" + text if indented else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class Unit:
    """text: of the part. of_type: nodes by their type, in the order of the tree. Annotations, docstrings, decorators
    and what stands inside f-strings aren't among them, since nothing is changed there.

    Errors: ValueError where the part doesn't parse.
    """

    def __init__(self, text: str) -> None:
        tree = parse(text)
        if tree is None:
            raise ValueError("the part doesn't parse")
        self.text = text
        self._above = 1 if text[:1] in (" ", "\t") else 0
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        wrapper = tree.body[0] if self._above else tree
        self.body: list[ast.stmt] = wrapper.body  # type: ignore[attr-defined]
        self.of_type: dict[type, list[Any]] = {}
        self.up: dict[ast.AST, ast.AST] = {}
        self._collect(wrapper)

    def _collect(self, root: ast.AST) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            self.of_type.setdefault(type(node), []).append(node)
            below = list(_children(node))
            for child in below:
                self.up[child] = node
            stack.extend(reversed(below))

    def all(self, *types: type[_Node]) -> list[_Node]:
        return [node for each in types for node in self.of_type.get(each, ())]

    def at(self, line: int, column: int) -> int:
        """The place in the text of a node's line (from 1) and column (in UTF-8 bytes)."""
        row = line - 1 - self._above
        whole = self.lines[row]
        if not whole.isascii():
            column = len(whole.encode()[:column].decode("utf-8", "ignore"))
        return self.starts[row] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends. Brackets around it don't belong to it."""
        placed: Any = node
        return self.at(placed.lineno, placed.col_offset), self.at(placed.end_lineno, placed.end_col_offset)

    def of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def rows(self, node: ast.AST) -> tuple[int, int]:
        """Lines [first, last) of a node, from 0."""
        placed: Any = node
        return placed.lineno - 1 - self._above, placed.end_lineno - self._above

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.up.get(node)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        above = self.up.get(node)
        while above is not None:
            yield above
            above = self.up.get(above)

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function around a node."""
        return next((above for above in self.parents(node) if isinstance(above, FUNCTIONS)), None)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that one stands among, itself one of them; empty where it isn't a plain block's."""
        above = self.up.get(statement)
        for field in _BODIES:
            body = getattr(above, field, None)
            if isinstance(body, list) and statement in body:
                return body
        return []


def docstring(body: list[ast.stmt]) -> ast.Expr | None:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first
    return None


def _children(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr):
        return
    skipped = {"annotation", "returns", "decorator_list", "type_params", "ctx", "op", "ops"}
    first = None
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        first = docstring(node.body)
    for field in node._fields:
        if field in skipped:
            continue
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST) and item is not first:
                    yield item
