"""A condition that forgets what was asked for: `and route.method == method`, a parameter that nobody compares."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import PRECEDENCE, Place, Proposal, Table, put, similarity, wrapped
from deskagent.repair.candidates.conditions import tests
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS
from deskagent.repair.syntax import Syntax

MAX_PARTS = 60
_AND, _OR, _COMPARED = PRECEDENCE["and"], PRECEDENCE["or"], PRECEDENCE["comparison_operator"]


def compared(node: Node, place: Place) -> Iterator[Proposal]:
    """`if c` → `if c and x.a == a`, `c or x.a != a`, `a in x.b`, for objects in scope and parameters."""
    parts = _parts(place)
    plain = node.parts[:1] if node.kind == "return_statement" and not [*tests(node)] else []
    for test in (*tests(node), *(v for v in plain if v.kind in {"attribute", "call", "identifier", "true"})):
        for text, opposite, weight in parts:
            if text in test.text:
                continue
            yield put("condition.match", test, f"{wrapped(test, _AND)} and {text}", weight, _AND)
            yield put("condition.match", test, f"{wrapped(test, _OR)} or {opposite}", weight * 0.5, _OR)
            if test.kind == "comparison_operator" and _sides(test) & _sides_of(text):
                yield put("condition.match", test, text, weight * 0.3, _COMPARED)
        for name in _unread(place):
            if not name[1]:
                yield put("condition.match", test, f"{wrapped(test, _AND)} and {name[0]}", 0.8, _AND)
                yield put("condition.match", test, f"{wrapped(test, _AND)} and not {name[0]}", 0.8, _AND)


def _sides(test: Node) -> set[str]:
    return {part.text for part in test.parts}


def _sides_of(text: str) -> set[str]:
    return set(text.split(" == "))


def filtered(node: Node, place: Place) -> Iterator[Proposal]:
    """A comprehension without a condition gets one."""
    if any(part.kind == "if_clause" for part in node.parts):
        return
    clauses = [part for part in node.parts if part.kind == "for_in_clause"]
    if not clauses:
        return
    at = clauses[-1].end
    inside = [n.text for n in clauses[-1].walk() if n.kind == "identifier" and n.field == "left"]
    for text, opposite, weight in _parts(place, node.parts[0]):
        if inside and text.startswith(tuple(f"{name}." for name in inside)):
            for part, share in ((text, 1.0), (opposite, 0.5)):
                yield Proposal(
                    "condition.match", weight * share, ((at, at, f" if {part}"),), f"only if {part}"
                )
    for name in inside:
        for part, share in ((name, 0.7), (f"{name} is not None", 0.6), (f"{name}.strip()", 0.3)):
            yield Proposal("condition.match", 0.6 * share, ((at, at, f" if {part}"),), f"only if {part}")


def _unread(place: Place) -> list[tuple[str, bool]]:
    """(parameter that is read nowhere, whether it is certainly no yes or no)."""
    return [
        (n.text, bool(n.kinds - {"bool"}))
        for n in place.own_variables
        if n.origin == "parameter" and not n.reads
    ]


def _parts(place: Place, node: Node | None = None) -> list[tuple[str, str, float]]:
    """(comparison, its opposite, how likely): an object's attribute against a parameter, a local or an attribute of
    `self` whose name is alike."""
    known = place.memo.get("matching") if node is None else None
    if isinstance(known, list):
        return known
    attributes = _attributes(place)
    variables = place.variables(node) if node is not None else place.own_variables
    objects = [
        n for n in variables if not n.kinds & (NUMBERS | {"str", "list", "dict", "set", "bool", "tuple"})
    ]
    values = [(n.text, n.text, 1.0 if n.origin == "parameter" else 0.7, n.reads) for n in place.own_variables]
    values += [(a, a[5:], 0.6, 1) for a in sorted(_own(place))]
    found: dict[str, tuple[str, float]] = {}
    if "self" in place.names:
        objects.append(place.names["self"])
    alike = {
        bare: [(a, kin) for a in attributes if (kin := similarity(a.strip("_"), bare.strip("_"))) >= 0.5]
        for bare in {bare for _, bare, _, _ in values}
    }
    for owner in objects[-9:]:
        for text, bare, share, reads in values:
            if text == owner.text or text.startswith(owner.text + "."):
                continue
            for attribute, kin in alike[bare]:
                weight = kin * share * (1.0 if owner.origin in {"loop", "local"} else 0.7)
                weight *= 1.0 if reads <= 1 else 0.85
                one = f"{owner.text}.{attribute}"
                for value, part in _forms(text, place):
                    found.setdefault(f"{one} == {value}", (f"{one} != {value}", weight * part))
                if attribute.endswith("s") and attribute != bare:
                    found.setdefault(f"{text} in {one}", (f"{text} not in {one}", weight * 0.9))
    ranked = sorted(found.items(), key=lambda item: (-item[1][1], item[0]))[:MAX_PARTS]
    made = [(text, opposite, weight) for text, (opposite, weight) in ranked]
    if node is None:
        place.memo["matching"] = made
    return made


def _forms(name: str, place: Place) -> Iterator[tuple[str, float]]:
    """The value, and as the file converts it elsewhere: `method.upper()`."""
    yield name, 1.0
    for text in _converted(place.syntax, name.rpartition(".")[2]):
        yield f"{name}.{text}()", 0.9


@lru_cache(maxsize=512)
def _converted(syntax: Syntax, name: str) -> tuple[str, ...]:
    """Conversions of text that the file calls on a name: upper, lower, strip …"""
    found: dict[str, None] = {}
    for call in syntax.calls:
        function = call.get("function")
        owner = function.get("object") if function is not None and function.kind == "attribute" else None
        if function is not None and owner is not None and owner.text.rpartition(".")[2] == name:
            method = function.text.rpartition(".")[2]
            if method in {"upper", "lower", "strip", "casefold", "title"}:
                found[method] = None
    return (*found,)


def _attributes(place: Place) -> list[str]:
    """Attributes that objects of the file and of its like have: set on `self`, fields of classes, read anywhere."""
    found = _own_attributes(place.syntax)
    return [*found, *sorted(place.attributes - found.keys())][:200]


@lru_cache(maxsize=32)
def _own_attributes(syntax: Syntax) -> dict[str, None]:
    return dict.fromkeys(sorted(name for name, called in _used(syntax) if not called))


def _used(syntax: Syntax) -> Iterator[tuple[str, bool]]:
    for (owner, called), names in syntax.attribute_uses.items():
        if owner == "":
            yield from ((name, called) for name in names)
    for node in syntax.statements:
        value = node.parts[0] if node.kind == "expression_statement" and node.parts else None
        if value is not None and value.kind == "assignment" and value.get("type") is not None:
            left = value.get("left")
            if left is not None and left.kind == "identifier":
                yield left.text, False


def _own(place: Place) -> set[str]:
    if "self" not in place.names or place.function is None:
        return set()
    read = (n for n in place.scope_nodes if n.kind == "attribute" and n.field != "function")
    return {n.text for n in read if n.text.startswith("self.") and n.text.count(".") == 1}


TABLE: Table = {
    "if_statement": (compared,),
    "elif_clause": (compared,),
    "while_statement": (compared,),
    "if_clause": (compared,),
    "return_statement": (compared,),
    "list_comprehension": (filtered,),
    "generator_expression": (filtered,),
    "set_comprehension": (filtered,),
    "dictionary_comprehension": (filtered,),
}
