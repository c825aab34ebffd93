"""Bugs of operators, boundaries and conditions."""

from __future__ import annotations

import ast
import itertools
import random
import re

from engine.train.bugs.change import Change, Changes, swapped
from engine.train.bugs.source import Unit

_COMPARED = {
    ast.Lt: ("<=", "<=", "<=", ">", ">="), ast.LtE: ("<", "<", "<", ">="), ast.Gt: (">=", ">=", ">=", "<", "<="),
    ast.GtE: (">", ">", ">", "<="), ast.Eq: ("!=", "!=", "is", "in", ">="), ast.NotEq: ("==", "==", ">", "<"),
    ast.Is: ("is not",), ast.IsNot: ("is", "is", "!="), ast.In: ("not in", "not in", "=="), ast.NotIn: ("in", "!="),
}  # fmt: skip
"""Operator → what is written instead, as often as it stands here."""
_COMPUTED = {
    ast.Add: ("-", "-", "*"), ast.Sub: ("+",), ast.Mult: ("/", "+", "**", "//"), ast.Div: ("//", "//", "*"),
    ast.FloorDiv: ("/", "/", "%"), ast.Mod: ("//", "/"), ast.LShift: (">>",), ast.RShift: ("<<",),
    ast.BitAnd: ("|", "|", "^"), ast.BitOr: ("&", "^"), ast.BitXor: ("|", "&"), ast.Pow: ("*",),
}  # fmt: skip
_SIGNS = re.compile(r"<=|>=|==|!=|<<|>>|\*\*|//|<|>|is\s+not\b|not\s+in\b|is\b|in\b|[-+*/%&|^]")
_NEGATED = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def compare(unit: Unit, rng: random.Random) -> Changes | None:
    """Another comparison: one with or without equality, the opposite, `is` for `==`."""
    found = [
        (*sides, op)
        for node in unit.all(ast.Compare)
        for sides, op in zip(itertools.pairwise([node.left, *node.comparators]), node.ops, strict=True)
    ]
    rng.shuffle(found)
    for left, right, op in found:
        new = rng.choice(_COMPARED[type(op)])
        plain = isinstance(right, ast.Constant)
        if new == "is" and isinstance(op, ast.Eq) and not (plain and right.value is not None):
            continue
        if new == "!=" and isinstance(op, ast.IsNot):
            continue  # the same for None, for which it is written
        if new in (">", "<", ">=") and isinstance(op, ast.Eq | ast.NotEq) and not _countable(left, right):
            continue
        if (
            new == "in"
            and isinstance(right, ast.Constant)
            and not (isinstance(right.value, str) and right.value)
        ):
            continue
        changes = _operator(unit, left, right, new)
        if changes:
            return changes
    return None


def compute(unit: Unit, rng: random.Random) -> Changes | None:
    """Another arithmetic operator."""
    found = [node for node in unit.all(ast.BinOp) if not _texts(node)]
    rng.shuffle(found)
    for node in found:
        choices = _COMPUTED.get(type(node.op))
        changes = _operator(unit, node.left, node.right, rng.choice(choices)) if choices else None
        if changes:
            return changes
    return None


def joined(unit: Unit, rng: random.Random) -> Changes | None:
    """`and` for `or`, and the other way round, throughout one condition."""
    found = unit.all(ast.BoolOp)
    if not found:
        return None
    node = rng.choice(found)
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    changes = []
    for one, two in zip(node.values, node.values[1:], strict=False):
        start, end = unit.span(one)[1], unit.span(two)[0]
        place = re.search(rf"\b{old}\b", unit.text[start:end])
        if place is None:
            return None
        changes.append(Change(start + place.start(), start + place.end(), new))
    return changes


def negated(unit: Unit, rng: random.Random) -> Changes | None:
    """A condition says the opposite."""
    found = [
        node.test
        for node in unit.all(ast.If, ast.While, ast.IfExp, ast.Assert)
        if isinstance(node.test, _NEGATED)
    ]
    found += [value for node in unit.all(ast.BoolOp) for value in node.values if isinstance(value, _NEGATED)]
    if not found:
        return None
    start, _ = unit.span(rng.choice(found))
    return [Change(start, start, "not ")]


def augmented(unit: Unit, rng: random.Random) -> Changes | None:
    """`+=` becomes `=` or `-=`; `=` becomes `+=` where a number is set again."""
    found = unit.all(ast.AugAssign)
    if not found:
        return None
    node = rng.choice(found)
    start, end = unit.span(node.target)[1], unit.span(node.value)[0]
    place = re.search(r"(\S{1,3})=", unit.text[start:end])
    if place is None:
        return None
    news = ["="] if place[1] not in "+-" else ["=", "=", "-=" if place[1] == "+" else "+="]
    return [Change(start + place.start(), start + place.end(), rng.choice(news))]


def branches(unit: Unit, rng: random.Random) -> Changes | None:
    """What is done if so and if not change places."""
    pairs: list[tuple[ast.AST, ast.AST]] = [(node.body, node.orelse) for node in unit.all(ast.IfExp)]
    for node in unit.all(ast.If):
        if len(node.body) == 1 and len(node.orelse) == 1 and not isinstance(node.orelse[0], ast.If):
            one, two = node.body[0], node.orelse[0]
            if all(last - first == 1 for first, last in map(unit.rows, (one, two))):
                pairs.append((one, two))
    pairs = [(one, two) for one, two in pairs if unit.of(one) != unit.of(two)]
    if not pairs:
        return None
    one, two = rng.choice(pairs)
    return swapped(unit, unit.span(one), unit.span(two))


def left_loop(unit: Unit, rng: random.Random) -> Changes | None:
    """`break` for `continue`, and the other way round."""
    found = unit.all(ast.Break, ast.Continue)
    if not found:
        return None
    node = rng.choice(found)
    return [Change(*unit.span(node), "continue" if isinstance(node, ast.Break) else "break")]


def _operator(unit: Unit, left: ast.AST, right: ast.AST, new: str) -> Changes | None:
    start, end = unit.span(left)[1], unit.span(right)[0]
    between = unit.text[start:end]
    place = _SIGNS.search(between)
    if place is None or "#" in between:
        return None
    return [Change(start + place.start(), start + place.end(), new)]


def _countable(left: ast.AST, right: ast.AST) -> bool:
    """Whether it makes sense to ask which is more."""
    for one in (left, right):
        if isinstance(one, ast.Constant) and type(one.value) in (int, float):
            return True
        if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "len":
            return True
    return False


def _texts(node: ast.BinOp) -> bool:
    """Whether an operator is one of texts or lists rather than numbers."""
    for one in (node.left, node.right):
        if isinstance(one, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple | ast.Dict):
            return True
        if isinstance(one, ast.Constant) and isinstance(one.value, str | bytes):
            return True
    return False
