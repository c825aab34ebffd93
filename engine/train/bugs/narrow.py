"""Bugs that are mended by adding to an expression: a call around it, a term of its condition, an argument."""

from __future__ import annotations

import ast
import random
import re

from engine.train.bugs.change import Change, Changes
from engine.train.bugs.source import Unit

_LONGEST = 60
"""Characters of what a call is put around, or of an argument."""
_TAKES_ANY = {
    "sorted",
    "set",
    "list",
    "tuple",
    "sum",
    "min",
    "max",
    "any",
    "all",
    "enumerate",
    "frozenset",
    "join",
}
_MAKES_LIST = {"list", "tuple", "iter"}
_FORMS = {
    "strip", "rstrip", "lstrip", "lower", "upper", "copy", "encode", "decode", "casefold", "split", "splitlines",
    "items", "keys", "values", "resolve", "absolute", "as_posix", "read", "group", "format", "title", "hex", "tolist",
    "replace", "expanduser",
}  # fmt: skip
"""Methods that give a value in another form: what is left without them still runs up to its use."""
_GONE = (ast.Constant, ast.Name, ast.Attribute, ast.Call)
_TYPES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp, ast.Constant)


def call(unit: Unit, rng: random.Random) -> Changes | None:
    """`f(x)` becomes `x`, `x.strip()` becomes `x`."""
    found: list[tuple[ast.Call, ast.AST]] = []
    for node in unit.all(ast.Call):
        inner = _wrapped(unit, node)
        if inner is not None and unit.span(inner)[1] - unit.span(inner)[0] <= _LONGEST:
            found.append((node, inner))
    if not found:
        return None
    node, inner = rng.choice(found)
    start, end = unit.span(node)
    first, last = unit.span(inner)
    new = unit.text[first:last]
    bracketed = isinstance(inner, ast.BinOp) and isinstance(unit.parent(node), ast.BinOp | ast.Attribute)
    return [Change(start, end, f"({new})" if bracketed else new)]


def term(unit: Unit, rng: random.Random) -> Changes | None:
    """One term of an `and` or `or` is gone."""
    found = [node for node in unit.all(ast.BoolOp) if _on_few_lines(unit, node)]
    if not found:
        return None
    node = rng.choice(found)
    at = rng.randrange(len(node.values))
    return _without(unit, node, node.values, at)


def argument(unit: Unit, rng: random.Random) -> Changes | None:
    """A keyword or the last of several arguments is gone, or a parameter's default."""
    found: list[tuple[ast.Call, list[ast.AST], int]] = []
    for node in unit.all(ast.Call):
        every: list[ast.AST] = [*node.args, *node.keywords]
        if any(isinstance(each, ast.GeneratorExp) for each in every) or not _in_order(every):
            continue
        for at in range(len(every)):
            single_last = at == len(node.args) - 1 and len(node.args) >= 2 and not node.keywords
            if (
                (at >= len(node.args) or single_last)
                and not _says_default(every[at])
                and _short(unit, every[at])
            ):
                found.append((node, every, at))
    if not found:
        return None
    node, every, at = rng.choice(found)
    if len(every) == 1:
        return [Change(*unit.span(every[0]), "")] if not _comma_behind(unit, every[0]) else None
    return _without(unit, node, every, at)


def operand(unit: Unit, rng: random.Random) -> Changes | None:
    """`a + b` becomes `a`, `x.y` becomes `x`, `x[i]` becomes `x`."""
    found: list[tuple[ast.AST, ast.AST]] = []
    for node in unit.all(ast.BinOp):
        for kept, gone in ((node.left, node.right), (node.right, node.left)):
            formats = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
            if isinstance(gone, _GONE) and _short(unit, gone) and not formats:
                found.append((node, kept))
    for node in unit.all(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and _short(unit, node.slice) and not _annotation(unit, node):
            found.append((node, node.value))
    for node in unit.all(ast.Attribute):
        around = unit.parent(node)
        called = isinstance(around, ast.Call) and around.func is node
        plain = isinstance(node.value, ast.Name) and node.value.id not in ("self", "cls")
        if isinstance(node.ctx, ast.Load) and plain and not called and not node.attr[0].isupper():
            found.append((node, node.value))
    if not found:
        return None
    node, kept = rng.choice(found)
    start, end = unit.span(node)
    first, last = _bracketed(unit.text, *unit.span(kept), start, end)
    return [Change(start, first, ""), Change(last, end, "")]


def choice(unit: Unit, rng: random.Random) -> Changes | None:
    """`a if c else b` becomes one of both."""
    found = unit.all(ast.IfExp)
    if not found:
        return None
    node = rng.choice(found)
    kept = rng.choice([node.body, node.body, node.orelse])
    return [Change(*unit.span(node), unit.of(kept))]


def word(unit: Unit, rng: random.Random) -> Changes | None:
    """A `not`, `await`, `yield` or `return` is missing."""
    found: list[Change] = []
    for node in unit.all(ast.UnaryOp):
        if isinstance(node.op, ast.Not | ast.USub) and not isinstance(node.operand, ast.Constant):
            found.append(Change(unit.span(node)[0], unit.span(node.operand)[0], ""))
    for node in unit.all(ast.Await, ast.YieldFrom):
        found.append(Change(unit.span(node)[0], unit.span(node.value)[0], ""))
    for node in unit.all(ast.Yield, ast.Return):
        if isinstance(node.value, ast.Call | ast.Attribute) and isinstance(unit.parent(node), ast.stmt):
            found.append(Change(unit.span(node)[0], unit.span(node.value)[0], ""))
    for node in unit.all(ast.Starred):
        found.append(Change(unit.span(node)[0], unit.span(node)[0] + 1, ""))
    for node in unit.all(ast.Compare):
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.NotIn | ast.IsNot):
            between = unit.text[unit.span(node.left)[1] : unit.span(node.comparators[0])[0]]
            place = re.search(r"\bnot ", between)
            if place:
                at = unit.span(node.left)[1] + place.start()
                found.append(Change(at, at + 4, ""))
    if not found:
        return None
    change = rng.choice(found)
    gone = unit.text[change.start : change.end]
    # an opening bracket between belongs to what is left
    return [Change(change.start, change.start + len(gone.split("(", 1)[0]), "")]


def _wrapped(unit: Unit, node: ast.Call) -> ast.AST | None:
    """What a call could be left out around."""
    around = unit.parent(node)
    if isinstance(around, ast.Expr):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _FORMS and len(node.args) <= 2:
        same = node.func.attr in ("keys", "copy") and isinstance(around, ast.For | ast.comprehension)
        return None if same or isinstance(node.func.value, ast.Constant) else node.func.value
    if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], _TYPES):
        return None
    if isinstance(node.func, ast.Name):
        name, outer = node.func.id, _callee(around)
        if name in _MAKES_LIST and (outer in _TAKES_ANY or isinstance(around, ast.For | ast.comprehension)):
            return None
        if name == "bool" and isinstance(around, ast.If | ast.BoolOp | ast.UnaryOp | ast.While):
            return None
        if name[0].isupper() and name.endswith(("Error", "Exception", "Warning")):
            return None
        return node.args[0]
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        # self.name(x), module.name(x): not obj.name(x), which may be told only by its effect
        return (
            node.args[0] if node.func.value.id in ("self", "cls", "os", "re", "path", "math", "ast") else None
        )
    return None


def _callee(node: ast.AST | None) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _without(unit: Unit, node: ast.AST, every: list[ast.AST] | list[ast.expr], at: int) -> Changes | None:
    """One of several parts is gone, with the comma or operator beside it."""
    start, end = unit.span(node)
    spans = [_bracketed(unit.text, *unit.span(each), start, end, whole=False) for each in every]
    if at:
        return [Change(spans[at - 1][1], spans[at][1], "")]
    return [Change(spans[0][0], spans[1][0], "")]


def _bracketed(
    text: str, start: int, end: int, first: int, last: int, *, whole: bool = True
) -> tuple[int, int]:
    """A part's place with the brackets right around it, inside [first, last); not all of that unless `whole`."""
    while True:
        before = re.search(r"\([ \t\n]*$", text[first:start])
        behind = re.match(r"[ \t\n]*\)", text[end:last])
        if not before or not behind:
            return start, end
        wider = first + before.start(), end + behind.end()
        if not whole and wider == (first, last):
            return start, end
        start, end = wider


def _on_few_lines(unit: Unit, node: ast.AST) -> bool:
    first, last = unit.rows(node)
    return last - first <= 4 and "#" not in unit.of(node)


def _short(unit: Unit, node: ast.AST) -> bool:
    start, end = unit.span(node)
    return end - start <= _LONGEST and "\n" not in unit.text[start:end]


def _in_order(every: list[ast.AST]) -> bool:
    places = [(getattr(each, "lineno", 0), getattr(each, "col_offset", 0)) for each in every]
    return places == sorted(places)


def _says_default(node: ast.AST) -> bool:
    """Whether an argument says what holds without it."""
    value = node.value if isinstance(node, ast.keyword) else node
    return (
        isinstance(value, ast.Constant) and value.value in (None, False) and not isinstance(node, ast.keyword)
    )


def _comma_behind(unit: Unit, node: ast.AST) -> bool:
    return unit.text[unit.span(node)[1] :].lstrip().startswith(",")


def _annotation(unit: Unit, node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id[0].isupper()
