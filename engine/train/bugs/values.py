"""Bugs of constants: numbers off by one, wrong bounds of slices and ranges, first values, defaults."""

from __future__ import annotations

import ast
import random
from typing import Any

from engine.train.bugs.change import Change, Changes
from engine.train.bugs.source import FUNCTIONS, LOOPS, Unit

_LARGEST = 100
"""Numbers beyond are sizes or codes, whose being off by one shows nowhere."""
_FIRST = {
    "0": ("1", "-1", "None"), "1": ("0", "2"), "[]": ("None", "{}"), "{}": ("[]", "None"), "None": ("0", "''", "False"),
    "True": ("False",), "False": ("True",), '""': ("None",), "''": ("None",), "set()": ("[]", "{}"), "-1": ("0",),
    "()": ("None",), "0.0": ("1.0", "0"), "1.0": ("0.0",),
}  # fmt: skip
_DEFAULTS = {
    "None": ("[]", "{}", "0", "''", "True"), "True": ("False", "None"), "False": ("True",), "0": ("1", "-1"),
    "1": ("0", "2"), "()": ("[]",), '""': ("None", '" "'), "''": ("None", "' '"), "-1": ("0", "None"), '" "': ('""',),
    '","': ('", "',), "' '": ("''",),
}  # fmt: skip


def number(unit: Unit, rng: random.Random) -> Changes | None:
    """A number is off by one, or a sign is wrong."""
    found = [
        node
        for node in unit.all(ast.Constant)
        if type(node.value) is int
        and node.value <= _LARGEST
        and unit.of(node).isdigit()
        and not isinstance(unit.parent(node), ast.Expr | ast.arguments)
    ]
    rng.shuffle(found)
    for node in found:
        around: Any = unit.parent(node)
        negative = isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.USub)
        value: Any = node.value
        if negative and value == 1:
            return [Change(*unit.span(around), rng.choice(["-2", "0", "1"]))]
        news = [value + 1, value + 1, value - 1, value - 1]
        if isinstance(around, ast.Subscript) and value == 0:
            news.append(-1)
        new = rng.choice([each for each in news if each >= -1])
        if not (negative and new < 1) and not _neutral(around, node, new):
            return [Change(*unit.span(node), str(new))]
    return None


def bound(unit: Unit, rng: random.Random) -> Changes | None:
    """A bound of a slice or range, or an index, is missing or one off."""
    found: list[Changes] = []
    for node in unit.all(ast.Slice):
        for end in (node.lower, node.upper):
            if end is not None and len(unit.of(end)) < 30:
                found.append([Change(*unit.span(end), _off(unit, end, rng))])
        if node.lower is not None and unit.of(node.lower) != "0":
            found.append([Change(*unit.span(node.lower), "")])
        if node.upper is not None:
            found.append([Change(*unit.span(node.upper), "")])
        if node.lower is not None and node.upper is None and node.step is None:
            start, end = unit.span(node.lower)
            if unit.text[end : end + 2] == ":]":
                found.append([Change(start, end + 1, ":" + unit.text[start:end])])
    for node in unit.all(ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
            for end in node.args[:2]:
                found.append([Change(*unit.span(end), _off(unit, end, rng))])
            if len(node.args) == 1:
                start, _ = unit.span(node.args[0])
                found.append([Change(start, start, "1, ")])
            if len(node.args) == 2:
                found.append([Change(unit.span(node.args[0])[0], unit.span(node.args[1])[0], "")])
    for node in unit.all(ast.Subscript):
        if isinstance(node.slice, ast.Name | ast.BinOp) and _index(unit.of(node.slice)):
            found.append([Change(*unit.span(node.slice), _off(unit, node.slice, rng))])
    return rng.choice(found) if found else None


def first(unit: Unit, rng: random.Random) -> Changes | None:
    """Another first value of a variable, mostly of one that a loop changes."""
    found = []
    for node in unit.all(ast.Assign):
        text = unit.of(node.value)
        if text in _FIRST and not _just_told(unit, node):
            found.append((node.value, rng.choice(_FIRST[text])))
    if not found:
        return None
    node, new = rng.choice(found)
    return [Change(*unit.span(node), new)]


def default(unit: Unit, rng: random.Random) -> Changes | None:
    """Another default of a parameter (one that changes, too), or value of a keyword."""
    found: list[ast.AST] = []
    for function in unit.all(*FUNCTIONS):
        found += [*function.args.defaults, *(each for each in function.args.kw_defaults if each is not None)]
    found += [word.value for call in unit.all(ast.Call) for word in call.keywords if word.arg]
    found = [node for node in found if unit.of(node) in _DEFAULTS]
    if not found:
        return None
    node = rng.choice(found)
    return [Change(*unit.span(node), rng.choice(_DEFAULTS[unit.of(node)]))]


def truth(unit: Unit, rng: random.Random) -> Changes | None:
    """`True` for `False` where it is returned or handed on."""
    found = [node for node in unit.all(ast.Constant) if type(node.value) is bool]
    if not found:
        return None
    node = rng.choice(found)
    return [Change(*unit.span(node), str(not node.value))]


def _off(unit: Unit, node: ast.AST, rng: random.Random) -> str:
    """The text of a number that is one off."""
    text = unit.of(node)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return str(node.value + rng.choice([1, -1]) if node.value else 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and unit.of(node.right) == "1":
        return unit.of(node.left)
    if isinstance(node, ast.UnaryOp) and text[1:].isdigit():
        return f"-{int(text[1:]) + 1}" if rng.random() < 0.6 else text[1:]
    if isinstance(node, ast.IfExp | ast.BoolOp | ast.Compare | ast.Lambda):
        text = f"({text})"
    return text + rng.choice([" + 1", " - 1"])


def _index(text: str) -> bool:
    return text in ("i", "j", "k", "n", "idx", "index", "pos", "at", "start", "end") or text.endswith(
        (" - 1", " + 1")
    )


def _neutral(around: ast.AST, node: ast.Constant, new: int) -> bool:
    """Whether the number is one of a shape rather than a count."""
    if isinstance(around, ast.keyword):
        return around.arg in ("stacklevel", "indent", "timeout", "maxsize", "level", "width")
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Mult) and new == 0:
        return True
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add | ast.Sub) and new == 0:
        return True
    return (
        isinstance(around, ast.BinOp) and isinstance(around.op, ast.Div | ast.FloorDiv | ast.Mod) and new <= 0
    )


def _just_told(unit: Unit, node: ast.Assign) -> bool:
    """Whether a value is set in a module or class, where its meaning can't be seen."""
    inside = any(isinstance(above, (*FUNCTIONS, *LOOPS)) for above in unit.parents(node))
    return not inside
