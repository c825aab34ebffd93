"""What is done to every element of a collection: left out, put in, or as the file does it elsewhere for the same
source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import (
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    is_value,
    precedence,
    put,
)
from deskagent.repair.candidates.known import free_names, functions, methods, owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.scope import BUILTINS
from deskagent.repair.syntax import Syntax

_COMPREHENSIONS = frozenset({"list_comprehension", "set_comprehension", "generator_expression"})
_GATHERS = frozenset(
    {"list", "tuple", "set", "sorted", "join", "sum", "max", "min", "any", "all", "frozenset"}
)
_SOURCES = frozenset({"identifier", "attribute", "subscript"})
MAX_FUNCTIONS, MAX_LENGTH, MAX_BORROWED = 12, 100, 6


def _clauses(node: Node) -> list[Node]:
    return [part for part in node.parts if part.kind == "for_in_clause"]


def plain(node: Node, place: Place) -> Iterator[Proposal]:
    """`[f(x) for x in xs]` → `xs`, `list(xs)`; `[b for a in xs for b in a.split(";")]` → `xs`."""
    clauses = _clauses(node)
    right = clauses[0].get("right") if clauses else None
    parent = node.parent
    if right is None or parent is None or (parent.kind == "call" and node.field == "arguments"):
        return
    yield put("over.plain", node, right.text, 1.0, precedence(right))
    if right.kind in _SOURCES and node.kind == "list_comprehension":
        yield put("over.plain", node, f"list({right.text})", 0.5)


def _treats(place: Place) -> dict[str, float]:
    """What may be done to one value here: the file's functions of one value, `str`, `int`."""
    known = place.memo.get("treats")
    if isinstance(known, dict):
        return known
    found: dict[str, float] = {}
    for name in ("str", "int", "list"):
        found[name] = 1.0 if name in place.hints.conversions else 0.4
    owner = owner_of(place.statement)
    callees = [*functions(place.syntax), *(methods(owner) if owner is not None else ())]
    words = place.hints.message | place.hints.request
    for callee in callees:
        if len(callee.needs) == 1 and callee.gives:
            found.setdefault(callee.call, 0.7 if callee.name in words else 0.4)
    for name, count in _called_with_one(place.syntax).items():
        if name in place.names:
            found[name] = max(found.get(name, 0.0), min(0.9, 0.3 + 0.1 * count))
    kept = dict(sorted(found.items(), key=lambda item: -item[1])[:MAX_FUNCTIONS])
    place.memo["treats"] = kept
    return kept


@lru_cache(maxsize=16)
def _called_with_one(syntax: Syntax) -> dict[str, int]:
    """Plain names called with one value, or handed to `map`, with how often."""
    found: dict[str, int] = {}
    for call in syntax.calls:
        function, given = call.get("function"), arguments(call)
        if function is None or function.kind != "identifier":
            continue
        if function.text == "map" and given and given[0].kind == "identifier":
            found[given[0].text] = found.get(given[0].text, 0) + 2
        elif len(given) == 1 and given[0].kind not in {"keyword_argument", "list_splat", "dictionary_splat"}:
            found[function.text] = found.get(function.text, 0) + 1
    return {name: count for name, count in found.items() if name not in BUILTINS}


def mapped(node: Node, place: Place) -> Iterator[Proposal]:
    """`list(xs)` → `list(map(f, xs))`, `", ".join(xs)` → `", ".join(map(str, xs))`."""
    given = arguments(node)
    if called_name(node) not in _GATHERS or len(given) != 1 or given[0].kind not in _SOURCES:
        return
    for function, weight in _treats(place).items():
        yield put("over.each", given[0], f"map({function}, {given[0].text})", weight)
        if called_name(node) == "list":
            yield put("over.each", node, f"[{function}(each) for each in {given[0].text}]", weight * 0.5)


def treated(node: Node, place: Place) -> Iterator[Proposal]:
    """`[f(x) for x in xs]` → `[f(g(x)) for x in xs]`, `[x for …]` → `[g(x) for …]`."""
    body, clauses = node.get("body"), _clauses(node)
    left = clauses[-1].get("left") if clauses else None
    if body is None or left is None or left.kind != "identifier":
        return
    for part in body.walk():
        if part.kind == "identifier" and part.text == left.text and is_value(part):
            above = part.parent
            around = called_name(above.parent) if above is not None and above.parent is not None else ""
            for function, weight in _treats(place).items():
                if function.rpartition(".")[2] != around:
                    yield put("over.each", part, f"{function}({part.text})", weight)


@lru_cache(maxsize=16)
def _comprehensions(syntax: Syntax) -> dict[str, list[Node]]:
    """Source → the short comprehensions over it."""
    found: dict[str, list[Node]] = {}
    for node in syntax.root.walk():
        clauses = (
            _clauses(node) if node.kind in _COMPREHENSIONS and node.end - node.start <= MAX_LENGTH else []
        )
        right = clauses[0].get("right") if clauses else None
        if right is not None:
            found.setdefault(right.text, []).append(node)
    return found


def as_elsewhere(node: Node, place: Place) -> Iterator[Proposal]:
    """`xs`, `map(f, xs)`, `[f(x) for x in xs]` → the comprehension over `xs` that stands elsewhere in the file."""
    if not is_value(node) or node.parent is None or node.parent.kind in {"for_in_clause", "attribute"}:
        return
    given = arguments(node) if node.kind == "call" else []
    if node.kind == "call":
        if called_name(node) not in {"map", "list", "filter"} or not given:
            return
        source = given[-1].text
    elif node.kind in _COMPREHENSIONS:
        clauses = _clauses(node)
        right = clauses[0].get("right") if clauses else None
        source = right.text if right is not None else ""
    else:
        source = node.text
    made = 0
    for other in _comprehensions(place.syntax).get(source, ()):
        if other.text == node.text or other.inside(node) or node.inside(other) or made >= MAX_BORROWED:
            continue
        own = {part.text for clause in _clauses(other) for part in (clause.get("left"),) if part is not None}
        if not all(name in place.names or name in BUILTINS or name in own for name in free_names(other)):
            continue
        made += 1
        weight = 1.0 if node.kind == "call" or node.kind in _COMPREHENSIONS else 0.4
        inner = other.text[1:-1]
        yield put("over.elsewhere", node, f"[{inner}]", weight)
        if other.kind != "list_comprehension":
            yield put("over.elsewhere", node, other.text, weight * 0.6)


_ROWS = (plain, treated, as_elsewhere)
TABLE: Table = {
    "list_comprehension": _ROWS,
    "set_comprehension": _ROWS,
    "generator_expression": _ROWS,
    "call": (mapped, as_elsewhere),
    "identifier": (as_elsewhere,),
    "attribute": (as_elsewhere,),
}
