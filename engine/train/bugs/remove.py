"""Bugs that are mended by putting lines in: a statement, guard, branch, method or element of a literal that is gone."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence

from engine.train.bugs.change import Change, Changes
from engine.train.bugs.source import FUNCTIONS, Unit, docstring

_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_GUARD_LINES, _STATEMENT_LINES, _METHOD_LINES = 5, 3, 9
_WITH_COMMENT = 0.3
"""Share of statements below a comment that go together with it; the others stay, since the comment gives them away."""
_TELLS = {"print", "debug", "info", "warning", "warn", "error", "exception", "log", "critical", "write_line"}
_WORDS = re.compile(r"[A-Za-z_]\w*")


def guard(unit: Unit, rng: random.Random) -> Changes | None:
    """An `if` that leaves the function or the round of a loop."""
    found = [
        node
        for node in unit.all(ast.If)
        if not node.orelse and isinstance(node.body[-1], _LEAVES) and not _last_of_function(unit, node)
    ]
    return _one(unit, rng, found, _GUARD_LINES)


def form(unit: Unit, rng: random.Random) -> Changes | None:
    """What brings a value to another form before it is used: `x = f(x)`, `if not callable(f): f = getter(f)`."""
    found: list[ast.stmt] = []
    for node in unit.all(ast.If):
        if not node.orelse and len(node.body) == 1 and isinstance(node.body[0], (ast.Assign, ast.AugAssign)):
            found.append(node)
    for node in unit.all(ast.Assign):
        target = unit.of(node.targets[0])
        if (
            len(node.targets) == 1
            and isinstance(node.value, ast.Call | ast.BoolOp | ast.IfExp | ast.Subscript)
            and target in {unit.of(name) for name in _loaded(node.value)}
        ):
            found.append(node)
    return _one(unit, rng, found, _GUARD_LINES)


def statement(unit: Unit, rng: random.Random) -> Changes | None:
    """An assignment, call, early return or so; not one that only tells, nor one that nothing reads."""
    found = []
    for node in unit.all(
        ast.Assign, ast.AugAssign, ast.Expr, ast.Delete, ast.Return, ast.Raise, ast.Break, ast.Continue
    ):
        if isinstance(node, ast.Expr) and (
            not isinstance(node.value, ast.Call | ast.Yield) or _tells(node.value)
        ):
            continue
        if isinstance(node, ast.Return) and (node.value is None or _last_of_function(unit, node)):
            continue
        if isinstance(node, ast.Assign) and not _read_later(unit, node):
            continue
        if isinstance(node, ast.Continue) and _last_of_loop(unit, node):
            continue
        found.append(node)
    return _one(unit, rng, found, _STATEMENT_LINES)


def branch(unit: Unit, rng: random.Random) -> Changes | None:
    """An `elif` or `else` with its lines, or an `except` that isn't the only one."""
    found: list[tuple[int, int]] = []
    for node in unit.all(ast.If):
        for first, last in _branches(unit, node):
            if last - first <= _GUARD_LINES + 1:
                found.append((first, last))
    for node in unit.all(ast.Try):
        if len(node.handlers) > 1:
            found += [rows for rows in map(unit.rows, node.handlers) if rows[1] - rows[0] <= _GUARD_LINES]
    rng.shuffle(found)
    return next((changes for rows in found if (changes := without(unit, rng, *rows))), None)


def method(unit: Unit, rng: random.Random) -> Changes | None:
    """A short method of a class, or a name that a class or module gives itself."""
    found: list[tuple[int, int]] = []
    for node in unit.all(ast.ClassDef):
        if len(node.body) < 3:
            continue
        for part in node.body:
            first, last = unit.rows(part)
            if isinstance(part, FUNCTIONS):
                first = min([first, *(unit.rows(mark)[0] for mark in part.decorator_list)])
                dunder = part.name.startswith("__") and part.name != "__init__"
                if last - first <= (_METHOD_LINES if dunder else _STATEMENT_LINES + 1):
                    found.append((first, last))
            elif isinstance(part, ast.Assign) and last - first <= _STATEMENT_LINES:
                found.append((first, last))
    rng.shuffle(found)
    return next((changes for rows in found if (changes := without(unit, rng, *rows))), None)


def decorator(unit: Unit, rng: random.Random) -> Changes | None:
    found = [unit.rows(mark) for node in unit.all(*FUNCTIONS, ast.ClassDef) for mark in node.decorator_list]
    found = [rows for rows in found if rows[1] - rows[0] == 1 and rows[0] >= 0]
    rng.shuffle(found)
    return next((changes for rows in found if (changes := without(unit, rng, *rows))), None)


def element(unit: Unit, rng: random.Random) -> Changes | None:
    """An element of a list, tuple or set, or an entry of a dict, of three or more."""
    found: list[tuple[ast.AST, ast.AST]] = []
    for node in unit.all(ast.List, ast.Tuple, ast.Set):
        if len(node.elts) >= 3:
            found += [(item, item) for item in node.elts]
    for node in unit.all(ast.Dict):
        if len(node.keys) >= 2:
            found += [
                (key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None
            ]
    rng.shuffle(found)
    return next((changes for pair in found if (changes := _without_element(unit, rng, *pair))), None)


def without(unit: Unit, rng: random.Random, first: int, last: int) -> Changes | None:
    """The text without lines [first, last), which have to be whole; a blank line too many goes with them."""
    if first < 0 or last > len(unit.lines):
        return None
    above = unit.lines[first - 1].strip() if first else ":"
    if above.startswith("#"):
        if rng.random() > _WITH_COMMENT or (first > 1 and unit.lines[first - 2].strip().startswith("#")):
            return None
        first -= 1
        above = unit.lines[first - 1].strip() if first else ":"
    below = unit.lines[last].strip() if last < len(unit.lines) else None
    if (not above and not below) or (above.endswith(":") and below == ""):
        if below == "":
            last += 1
        elif first:
            first -= 1
    if last < len(unit.lines):
        return [Change(unit.starts[first], unit.starts[last], "")]
    return [Change(unit.starts[first] - 1, unit.starts[last] - 1, "")] if first else None


def _one(unit: Unit, rng: random.Random, found: Sequence[ast.stmt], most: int) -> Changes | None:
    for node in rng.sample(found, len(found)):
        first, last = unit.rows(node)
        if last - first > most or first == 0 or not _leaves_some(unit.block(node)) or not _whole(unit, node):
            continue
        changes = without(unit, rng, first, last)
        if changes:
            return changes
    return None


def _whole(unit: Unit, node: ast.stmt) -> bool:
    """Whether nothing but a statement and a comment stands in its lines."""
    first, last = unit.rows(node)
    start, end = unit.span(node)
    behind = unit.text[end : unit.starts[last] - 1].strip()
    return not unit.text[unit.starts[first] : start].strip() and (not behind or behind.startswith("#"))


def _leaves_some(block: list[ast.stmt]) -> bool:
    """Whether a block without one of its statements still does something."""
    return len(block) - (docstring(block) is not None) >= 2


def _branches(unit: Unit, node: ast.If) -> Iterator[tuple[int, int]]:
    """Lines of each `elif` and `else` right below an `if`."""
    if not node.orelse:
        return
    body_end = unit.rows(node.body[-1])[1]
    inner = node.orelse[0]
    first, last = unit.rows(inner)[0], unit.rows(node.orelse[-1])[1]
    if isinstance(inner, ast.If) and unit.lines[first].lstrip().startswith("elif") and len(node.orelse) == 1:
        yield first, unit.rows(inner.body[-1])[1]
        return
    # from the line of the `else` on
    for row in range(body_end, first + 1):
        if unit.lines[row].lstrip().startswith("else"):
            yield row, last
            return


def _without_element(unit: Unit, rng: random.Random, one: ast.AST, two: ast.AST) -> Changes | None:
    start, end = unit.span(one)[0], unit.span(two)[1]
    text = unit.text
    if text.count("\n", start, end):
        return None
    rest = re.match(r"\s*,[ \t]*", text[end:])
    row = text.count("\n", 0, start)
    if rest and not text[unit.starts[row] : start].strip() and text[end + rest.end() :][:1] == "\n":
        return without(unit, rng, row, row + 1)
    if rest and "\n" not in rest[0]:
        return [Change(start, end + rest.end(), "")]
    before = re.search(r",[ \t]*$", text[:start])
    return [Change(before.start(), end, "")] if before and not rest else None


def _last_of_function(unit: Unit, node: ast.stmt) -> bool:
    around = unit.parent(node)
    return isinstance(around, FUNCTIONS) and around.body[-1] is node


def _last_of_loop(unit: Unit, node: ast.stmt) -> bool:
    block = unit.block(node)
    return bool(block) and block[-1] is node and isinstance(unit.parent(node), ast.For | ast.While)


def _loaded(node: ast.AST) -> Iterator[ast.AST]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute))


def _read_later(unit: Unit, node: ast.Assign) -> bool:
    """Whether what is assigned shows again below; attributes and items are taken to."""
    names = [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
    if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
        return True
    rest = set(_WORDS.findall(unit.text[unit.span(node)[1] :]))
    return any(name in rest for name in names)


def _tells(node: ast.AST) -> bool:
    """Whether a call only says something to people."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in _TELLS
