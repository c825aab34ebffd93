"""Slips that many mends are of: one off, empty taken for missing, a key that may lack, `if` for `elif`, no `self`."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator

from engine.train.bugs.change import Change, Changes
from engine.train.bugs.source import FUNCTIONS, Unit

_LONGEST = 40
"""Characters of an expression."""
_FROM = re.compile(r"yield[ ]+from[ ]+")
_COUNTS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def off(unit: Unit, rng: random.Random) -> Changes | None:
    """`n` becomes `n + 1` or `n - 1` where numbers are compared, and where a function calls itself."""
    found: list[ast.AST] = []
    for node in unit.all(ast.Compare):
        if any(isinstance(op, _COUNTS) for op in node.ops):
            found += [node.left, *node.comparators]
    for node in unit.all(ast.Call):
        function = unit.function(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if function is not None and function.name == name:
            found += [each for each in node.args if _is_count(unit, each)]
    for node in unit.all(ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub) and unit.of(node.right) == "1":
            found += [node, node]
    found = [node for node in found if _is_count(unit, node)]
    if not found:
        return None
    node = rng.choice(found)
    _, end = unit.span(node)
    if isinstance(node, ast.BinOp):
        return [Change(unit.span(node.left)[1], end, "")] if "(" not in unit.of(node) else None
    return [Change(end, end, rng.choice([" + 1", " - 1"]))]


def presence(unit: Unit, rng: random.Random) -> Changes | None:
    """`x is not None` becomes `x`, `x is None` becomes `not x`, and the other way round."""
    found: list[Changes] = []
    for node in unit.all(ast.Compare):
        if len(node.ops) == 1 and unit.of(node.comparators[0]) == "None" and _is_plain(node.left):
            end, last = unit.span(node.left)[1], unit.span(node)[1]
            if isinstance(node.ops[0], ast.IsNot):
                found += [[Change(end, last, "")]] * 2
            elif isinstance(node.ops[0], ast.Is):
                start = unit.span(node)[0]
                found += [[Change(start, start, "not "), Change(end, last, "")]] * 2
    for test in _tests(unit):
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _is_plain(test.operand):
            start, first = unit.span(test)[0], unit.span(test.operand)[0]
            _, end = unit.span(test)
            found.append([Change(start, first, ""), Change(end, end, " is None")])
        elif _is_plain(test):
            _, end = unit.span(test)
            found.append([Change(end, end, " is not None")])
    return rng.choice(found) if found else None


def got(unit: Unit, rng: random.Random) -> Changes | None:
    """`x.get(k, …)` becomes `x[k]`, and `getattr(x, 'a', …)` becomes `x.a`."""
    found: list[Changes] = []
    for node in unit.all(ast.Call):
        start, end = unit.span(node)
        if node.keywords or not 1 <= len(node.args) <= 3 or "\n" in unit.text[start:end]:
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and len(node.args) <= 2:
            _, owner = unit.span(node.func.value)
            found.append([Change(owner, end, f"[{unit.of(node.args[0])}]")])
        elif isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) == 3:
            name = node.args[1]
            if isinstance(name, ast.Constant) and str(name.value).isidentifier() and _is_plain(node.args[0]):
                found.append([Change(start, end, f"{unit.of(node.args[0])}.{name.value}")])
    return rng.choice(found) if found else None


def chained(unit: Unit, rng: random.Random) -> Changes | None:
    """`elif` becomes `if`."""
    found: list[Changes] = []
    for node in unit.all(ast.If):
        start, _ = unit.span(node)
        above = unit.parent(node)
        leaves = isinstance(above, ast.If) and isinstance(
            above.body[-1], ast.Return | ast.Raise | ast.Continue
        )
        if unit.text.startswith("elif", start) and not leaves:
            found.append([Change(start, start + 2, "")])
    return rng.choice(found) if found else None


def owner(unit: Unit, rng: random.Random) -> Changes | None:
    """`self.x` becomes `x` and the other way round, where there are both."""
    found: list[Changes] = []
    mine = [node for node in unit.all(ast.Attribute) if isinstance(node.value, ast.Name)]
    mine = [node for node in mine if node.value.id == "self" and isinstance(node.ctx, ast.Load)]  # type: ignore[attr-defined]
    attributes = {node.attr for node in mine}
    for node in mine:
        if node.attr in _parameters(unit, node):
            start, end = unit.span(node)
            found.append([Change(start, end - len(node.attr), "")])
    for node in unit.all(ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id in attributes and node.id in _parameters(unit, node):
            start, _ = unit.span(node)
            found.append([Change(start, start, "self.")])
    return rng.choice(found) if found else None


def fewer(unit: Unit, rng: random.Random) -> Changes | None:
    """One of two is left: values that are returned, or types that are accepted."""
    pairs = [node.value for node in unit.all(ast.Return, ast.Yield) if isinstance(node.value, ast.Tuple)]
    for node in unit.all(ast.Call):
        if getattr(node.func, "id", "") in ("isinstance", "issubclass") and len(node.args) == 2:
            pairs += [node.args[1]] if isinstance(node.args[1], ast.Tuple) else []
    pairs = [pair for pair in pairs if len(pair.elts) == 2 and "\n" not in unit.of(pair)]
    if not pairs:
        return None
    pair = rng.choice(pairs)
    return [Change(*unit.span(pair), unit.of(rng.choice(pair.elts)))]


def yielded(unit: Unit, rng: random.Random) -> Changes | None:
    """`yield from x` becomes `yield x`."""
    found = unit.all(ast.YieldFrom)
    if not found:
        return None
    start, _ = unit.span(rng.choice(found))
    place = _FROM.match(unit.text, start)
    return [Change(start, place.end(), "yield ")] if place else None


def _tests(unit: Unit) -> Iterator[ast.AST]:
    """Conditions, and the terms that they are of."""
    for node in unit.all(ast.If, ast.While, ast.IfExp):
        yield node.test
    for node in unit.all(ast.BoolOp):
        if isinstance(unit.parent(node), ast.If | ast.While | ast.IfExp):
            yield from node.values


def _parameters(unit: Unit, node: ast.AST) -> set[str]:
    function = unit.function(node)
    if not isinstance(function, FUNCTIONS):
        return set()
    every = function.args
    return {each.arg for each in [*every.posonlyargs, *every.args, *every.kwonlyargs]} - {"self"}


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def _is_count(unit: Unit, node: ast.AST) -> bool:
    """Whether an expression may be a number that is one off, as far as can be seen."""
    start, end = unit.span(node)
    if end - start > _LONGEST or "\n" in unit.text[start:end]:
        return False
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") in ("len", "min", "max", "int", "sum")
    return isinstance(node, ast.Name | ast.Attribute) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.FloorDiv)
    )
