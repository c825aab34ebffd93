"""Places that no failing test runs and an error speaks of: the head of a function or class that it names, the import
line that lacks a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from deskagent.repair.hints import Hints
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import FUNCTIONS, Syntax, block
from deskagent.repair.types import Suspect

OF_CLASS, OF_FUNCTION, OF_IMPORT, OF_CLAUSE = 0.6, 0.4, 0.8, 0.7
"""Of the most suspicious statement's score: a class that an error names, a function that the failing line names, an
import line of a module that lacks a name, an except clause that the error came through."""
_OBJECT = re.compile(r"'(\w+)' object|of type '(\w+)'|instances of '(\w+)'|type: '(\w+)'|operand type\(s\) for \S+ "
                     r"'(\w+)'"
                     r"|<(?:[\w.]+\.)?(\w+) object at 0x|\b(\w+)\.?\w*\(\) (?:takes|missing|got)")  # fmt: skip
_CANNOT = re.compile(r"cannot import name '\w+' from (?:partially initialized module )?'([\w.]+)'"
                     r"|module '([\w.]+)' has no attribute")  # fmt: skip
_MOST = 12


def unseen(path: str, tree: object, hints: Hints, top: float, stack: Collection[int]) -> Iterator[Suspect]:
    """Suspects of one file; `top` is the best score so far, `stack` are lines that a test failed in or below."""
    if not isinstance(tree, Syntax):
        return
    errors = "\n".join(hints.examples.errors)
    spoken = f"{errors}\n{sorted(hints.literals)}"
    named = {name for groups in _OBJECT.findall(spoken) for name in groups if name}
    named |= {error.partition(":")[0].rpartition(".")[2] for error in hints.examples.errors}
    modules = {name for groups in _CANNOT.findall(errors) for name in groups if name}
    found = 0
    for node in tree.statements:
        name = node.get("name") if node.kind in FUNCTIONS | {"class_definition"} else None
        if node.kind == "class_definition" and name is not None and name.text in named:
            yield Suspect(path, node.line, OF_CLASS * top, (f"an error names {name.text}",))
        elif name is not None and name.text in hints.message and node.kind in FUNCTIONS and found < _MOST:
            found += 1
            yield Suspect(path, node.line, OF_FUNCTION * top, (f"the failing tests name {name.text}",))
        elif node.kind == "except_clause" and errors and _passed(node, stack):
            yield Suspect(path, node.line, OF_CLAUSE * top, ("the error came through this clause",))
        elif node.kind == "import_from_statement" and modules and _module(path) in modules and _outer(node):
            yield Suspect(path, node.line, OF_IMPORT * top, ("a name can't be imported from here",))


def _passed(clause: Node, stack: Collection[int]) -> bool:
    """Whether a test failed within the `try` that the clause belongs to."""
    body = block(clause.parent) if clause.parent is not None else None
    return body is not None and any(body.row < line <= body.end_row + 1 for line in stack)


def _module(path: str) -> str:
    dotted = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return dotted.removeprefix("src.").removeprefix("lib.")


def _outer(node: Node) -> bool:
    return node.parent is not None and node.parent.kind == "module"
