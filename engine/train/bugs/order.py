"""Bugs of order and extent: arguments or statements that changed places, one in or out of a loop, a call too many."""

from __future__ import annotations

import ast
import itertools
import random

from engine.train.bugs.change import Change, Changes, swapped
from engine.train.bugs.source import LOOPS, Unit

_ANY_ORDER = {"min", "max", "print", "debug", "info", "warning", "error", "union", "gcd", "hypot", "isclose"}
_AROUND = ("str", "str", "list", "int", "len", "sorted", "repr", "tuple")
_STEP = "    "


def arguments(unit: Unit, rng: random.Random) -> Changes | None:
    """Two arguments next to each other change places."""
    found: list[tuple[ast.AST, ast.AST]] = []
    for node in unit.all(ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        args = [each for each in node.args if not isinstance(each, ast.Starred | ast.GeneratorExp)]
        if len(args) == len(node.args) and name not in _ANY_ORDER:
            found += list(itertools.pairwise(args))
    for node in unit.all(ast.Return):
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            found.append((node.value.elts[0], node.value.elts[1]))
    for node in unit.all(ast.BinOp):
        if (
            isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod)
            and not isinstance(node.left, ast.Constant)
            and isinstance(node.left, ast.Name | ast.Attribute)
            and isinstance(node.right, ast.Name | ast.Attribute)
        ):
            found.append((node.left, node.right))
    found = [
        (one, two)
        for one, two in found
        if unit.of(one) != unit.of(two) and len(unit.of(one) + unit.of(two)) < 80
    ]
    if not found:
        return None
    one, two = rng.choice(found)
    return swapped(unit, unit.span(one), unit.span(two))


def statements(unit: Unit, rng: random.Random) -> Changes | None:
    """Two statements of a line each that follow each other and share a name change places."""
    found: list[tuple[ast.stmt, ast.stmt]] = []
    for node in unit.all(ast.Assign, ast.AugAssign, ast.Expr):
        block = unit.block(node)
        at = block.index(node) if node in block else len(block)
        if at + 1 >= len(block):
            continue
        other = block[at + 1]
        if (
            isinstance(other, ast.Assign | ast.AugAssign | ast.Expr)
            and _lines(unit, node) == _lines(unit, other) == 1
        ) and (_set(node) & _names(other) or _set(other) & _names(node)):
            found.append((node, other))
    if not found:
        return None
    one, two = rng.choice(found)
    return swapped(unit, unit.span(one), unit.span(two))


def out_of_loop(unit: Unit, rng: random.Random) -> Changes | None:
    """The last statement of a loop's or condition's block stands behind it, or the one behind it within."""
    found: list[Changes] = []
    for node in unit.all(*LOOPS, ast.If, ast.With):
        if isinstance(node, (*LOOPS, ast.If)) and node.orelse:
            continue
        last = node.body[-1]
        if len(node.body) > 1 and _lines(unit, last) == 1 and not isinstance(last, ast.Continue | ast.Break):
            row = unit.rows(last)[0]
            if unit.lines[row].startswith(_STEP) and unit.rows(node)[1] == row + 1:
                found.append([Change(unit.starts[row], unit.starts[row] + len(_STEP), "")])
        block = unit.block(node)
        at = block.index(node) + 1 if node in block else len(block)
        if at < len(block) and isinstance(node, LOOPS) and _lines(unit, block[at]) == 1:
            row = unit.rows(block[at])[0]
            if unit.lines[row - 1].strip() and unit.span(block[at])[0] - unit.starts[row] == _level(
                unit, row
            ):
                found.append([Change(unit.starts[row], unit.starts[row], _STEP)])
    return rng.choice(found) if found else None


def around(unit: Unit, rng: random.Random) -> Changes | None:
    """A call stands around a value that is needed as it is."""
    found: list[ast.AST] = []
    for node in unit.all(ast.Name, ast.Attribute, ast.Call, ast.Subscript):
        above = unit.parent(node)
        start, end = unit.span(node)
        if (
            not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
            or end - start > 40
            or "\n" in unit.text[start:end]
            or unit.text[start].isupper()
        ):
            continue
        handed = isinstance(above, ast.Call) and node in above.args
        compared = isinstance(above, ast.Compare) and not isinstance(above.ops[0], ast.Is | ast.IsNot)
        if handed or compared or isinstance(above, (ast.Return, ast.Assign)):
            found.append(node)
    if not found:
        return None
    node = rng.choice(found)
    new = rng.choice(_AROUND)
    start, end = unit.span(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _AROUND:
        return None
    return [Change(start, start, new + "("), Change(end, end, ")")]


def _lines(unit: Unit, node: ast.stmt) -> int:
    first, last = unit.rows(node)
    return last - first


def _level(unit: Unit, row: int) -> int:
    return len(unit.lines[row]) - len(unit.lines[row].lstrip())


def _set(node: ast.AST) -> set[str]:
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
