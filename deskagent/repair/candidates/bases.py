"""Base cases: a way out with what the failing tests want for the values that they hand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import after, alone, before, first_in
from deskagent.repair.candidates.handed import Row, handed
from deskagent.repair.candidates.known import calls_of, owner_of
from deskagent.repair.candidates.rejecting import Rows, conditions
from deskagent.repair.nodes import Node
from deskagent.repair.scope import BUILTINS
from deskagent.repair.syntax import CLAUSES, is_docstring, siblings
from deskagent.repair.values import Unknown

MAX_WAYS, MAX_MADE, MAX_TEXT, SHARP = 10, 100, 80, 1.5
_EMPTY = {"list": "[]", "dict": "{}", "set": "set()", "tuple": "()", "str": '""', "int": "0", "float": "0.0",
          "bool": "False"}  # fmt: skip


def ways(place: Place) -> dict[str, float]:
    """Lines that leave the function with a value → how likely: what failing tests want, what is like the other
    returns."""
    found: dict[str, float] = {}
    given = handed(place)

    def say(text: str, weight: float) -> None:
        if len(text) <= MAX_TEXT:
            found[text] = max(weight, found.get(text, 0.0))

    for row in given.failing:
        if row.wanted and _usable(row.wanted, place):
            say(f"return {row.wanted}", 1.0)
        if not isinstance(row.result, Unknown):
            for name, value in row.values.items():
                if type(value) is type(row.result) and repr(value) == repr(row.result):
                    say(f"return {name}", 1.0)
                    if isinstance(value, list):
                        say(f"return list({name})", 0.6)
    for value in place.hints.examples.expected[:6]:
        if not given.failing and len(repr(value)) < 40:
            say(f"return {value!r}", 0.6)
    for text, weight in _built(place):
        say(f"return {text}", weight)
    generator = any(node.kind == "yield" and node.named for node in place.scope_nodes)
    if generator:
        found = {"return": 0.9}
    if place.in_loop is not None and place.statement.kind not in {"function_definition"}:
        found |= {"continue": 0.7, "break": 0.4}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MAX_WAYS])


def _usable(text: str, place: Place) -> bool:
    """Whether an expression of a test can stand here: literals, and calls of what can be seen."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return all(
        n in BUILTINS or (n in place.names and place.names[n].origin in {"definition", "import"})
        for n in names
    )


def _built(place: Place) -> Iterator[tuple[str, float]]:
    """Of the class around, and of what the function's other returns make: empty ones, with 0 and 1."""
    owner, names = owner_of(place.statement), place.names
    makers: dict[str, float] = {}
    title = owner.get("name") if owner is not None else None
    in_class = title is not None and "self" in names
    for node in place.scope_nodes:
        value = node.parts[0] if node.kind == "return_statement" and node.parts else None
        if value is None:
            continue
        function = value.get("function") if value.kind == "call" else None
        kind = place.kind(value)
        if function is not None and function.kind == "identifier" and function.text[:1].isupper():
            makers[function.text] = 0.7
        elif kind in _EMPTY:
            yield _EMPTY[kind], 0.6
            if kind in {"int", "float"}:
                yield "1", 0.5
        elif value.kind == "identifier":
            initial = names[value.text].initial if value.text in names else ""
            if initial and "\n" not in initial and len(initial) < 12:
                yield initial, 0.5
    if title is not None:
        returns_own = any(
            (f := n.get("function")) is not None and f.text == title.text and n.inside(owner)
            for n in calls_of(place.syntax, title.text)
        ) if owner is not None else False  # fmt: skip
        if in_class and (returns_own or makers):
            makers.setdefault(title.text, 0.6)
            makers |= {"type(self)": 0.5, "self.__class__": 0.35}
        if "cls" in names:
            makers["cls"] = 0.8
    for maker, weight in makers.items():
        for argument, share in (("", 0.8), ("0", 0.6), ("1", 0.7), ("[]", 0.5), ("()", 0.3), ("''", 0.3)):
            yield f"{maker}({argument})", weight * share
    if in_class:
        yield "self", 0.35
        if place.hints.exceptions & {"TypeError", "AttributeError"}:
            yield "NotImplemented", 0.6


def based(node: Node, place: Place) -> Iterator[Proposal]:
    """`if n == 0: return Fraction(1)` before the statement, or first in the function."""
    function = place.function
    if function is None or node.kind in CLAUSES or (place.hints.asked.raises and not handed(place).failing):
        return
    header = node.kind == "function_definition"
    if not header and not alone(node):
        return
    if not handed(place).failing and not place.hints.exceptions - {"AssertionError"}:
        return
    unit = place.syntax.unit
    ranked = sorted(
        ((fit * weight, condition, way)
         for way, weight in ways(place).items()
         for condition, fit in conditions(place, _rows(way, place)).items()),
        key=lambda row: (-row[0], row[1], row[2]),
    )  # fmt: skip
    beside = [part for part in siblings(node) if not is_docstring(part)] if not header else []
    share = 1.0 if header or (beside and beside[0] is node) else 0.8
    top = max(0.5, ranked[0][0]) if ranked else 1.0
    for value, condition, way in islice(ranked, MAX_MADE):
        weight = (value / top) ** SHARP
        lines = f"if {condition}:\n{unit}{way}"
        made = (first_in if header else before)("guard.told", node, lines, weight * share)
        if made is not None:
            yield made
        if node.kind == "if_statement" and beside and node is beside[0] and _leaves(node):
            behind = after("guard.told", node, lines, weight * 0.9)
            if behind is not None:
                yield behind


def _rows(way: str, place: Place) -> Rows:
    """The calls that want what the way out gives, against all others; any failing one, where none says so."""
    given = handed(place)

    def wants(row: Row) -> bool:
        value = way.removeprefix("return ")
        return row.wanted == value or (value in row.values and repr(row.values[value]) == repr(row.result))

    own = tuple(row for row in given.failing if wants(row))
    if not own:
        return Rows(given.failing, given.passing, every=False)
    return Rows(own, (*given.passing, *(row for row in given.failing if row not in own)), every=True)


def _leaves(node: Node) -> bool:
    body = next((child for child in node.children if child.kind == "block"), None)
    return (
        body is not None
        and bool(body.parts)
        and body.parts[-1].kind in {"return_statement", "raise_statement"}
    )


TABLE: Table = {"statement": (based,)}
