"""Of what type a value is: asked by `isinstance` instead of by `type(x) ==`, asked before a value is compared, or
asked for in a condition that takes too much."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import (
    ATOM,
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    put,
    wrapped,
)
from deskagent.repair.candidates.conditions import tests
from deskagent.repair.candidates.known import owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block

_AND, _NOT = PRECEDENCE["and"], PRECEDENCE["not_operator"]
_EQUAL = {"==": False, "is": False, "in": False, "!=": True, "is not": True, "not in": True}
_LITERALS = {
    "string": "str",
    "integer": "int",
    "list": "list",
    "dictionary": "dict",
    "set": "set",
    "tuple": "tuple",
}
_NAMED = re.compile(r"'(str|bytes|int|float|bool|list|tuple|dict|set|frozenset|complex)'")
_BUILT_IN = frozenset({"str", "bytes", "int", "float", "bool", "list", "tuple", "dict", "set", "frozenset"})
MAX_TYPES, MAX_VALUES = 8, 8


def by_instance(node: Node, place: Place) -> Iterator[Proposal]:
    """`type(x) == T`, `type(x) in (A, B)` → `isinstance(x, T)`, `isinstance(x, (A, B))`."""
    tokens, parts = node.all("operators"), node.parts
    if len(tokens) != 1 or len(parts) != 2 or tokens[0].text not in _EQUAL:
        return
    left, right = parts
    if called_name(left) != "type" and called_name(right) == "type" and not tokens[0].text.endswith("in"):
        left, right = right, left
    given = arguments(left) if left.kind == "call" and called_name(left) == "type" else []
    if len(given) != 1 or right.kind in {"string", "integer", "none"}:
        return
    if right.kind == "call" and called_name(right) != "type":
        return
    many = tokens[0].text.endswith("in") and right.kind in {"list", "set", "tuple"}
    kinds = f"({', '.join(part.text for part in right.parts)})" if many else right.text
    new = f"isinstance({given[0].text}, {kinds})"
    if _EQUAL[tokens[0].text]:
        yield put("type.instance", node, f"not {new}", 1.0, _NOT)
    else:
        yield put("type.instance", node, new, 1.0)


def before_comparing(node: Node, place: Place) -> Iterator[Proposal]:
    """`x == ""` → `isinstance(x, str) and x == ""`: not everything can be compared with a text."""
    tokens, parts = node.all("operators"), node.parts
    if len(tokens) != 1 or len(parts) != 2 or tokens[0].text not in {"==", "in"}:
        return
    for value, literal in ((parts[0], parts[1]), (parts[1], parts[0])):
        kind = _LITERALS.get(literal.kind)
        if literal.kind == "string" and literal.text[:1] in "bB":
            kind = "bytes"
        if tokens[0].text == "in" and (kind in {"tuple", "list", "set"} or value is not parts[0]):
            inner = [part for part in literal.parts if part.kind == "string"]
            kind = "str" if inner and len(inner) == len(literal.parts) else None
        if (
            kind is None
            or value.kind not in {"identifier", "attribute", "subscript"}
            or value.kind == literal.kind
        ):
            continue
        said = 1.0 if place.hints.exceptions - {"AssertionError", "Timeout"} else 0.4
        yield put("type.before", node, f"isinstance({value.text}, {kind}) and {node.text}", said, _AND)


def _types(place: Place) -> dict[str, float]:
    """Types that the errors name, that the failing examples hand in, and that the function asks for."""
    known = place.memo.get("types")
    if isinstance(known, dict):
        return known
    found: dict[str, float] = {}
    for error in place.hints.examples.errors:
        for name in _NAMED.findall(error):
            found[name] = 1.0
    for value in place.hints.examples.given[:12]:
        name = type(value).__name__
        if name in _BUILT_IN:
            found.setdefault(name, 0.5)
    for other in place.scope_nodes:
        if other.kind == "call" and called_name(other) == "isinstance" and len(arguments(other)) == 2:
            text = arguments(other)[1].text
            if len(text) < 40 and "\n" not in text:
                found.setdefault(text, 0.5)
    kept = dict(sorted(found.items(), key=lambda item: -item[1])[:MAX_TYPES])
    place.memo["types"] = kept
    return kept


def narrower(node: Node, place: Place) -> Iterator[Proposal]:
    """`if x:` → `if x and not isinstance(x, str):`, `if isinstance(x, T) and x:`, for values of the condition and of
    its branch."""
    errors = [error for error in place.hints.examples.errors if not error.startswith("AssertionError")]
    strength = 1.0 if any(_NAMED.search(error) for error in errors) else 0.35
    for test in tests(node):
        values = _values(test, node, place)
        for value, near in values.items():
            for kind, likely in _types(place).items():
                if f"isinstance({value}, {kind})" in test.text:
                    continue
                weight = strength * near * likely
                whole = wrapped(test, _AND)
                asked = f"isinstance({value}, {kind})"
                yield put("type.narrow", test, f"{whole} and not {asked}", weight, _AND)
                yield put("type.narrow", test, f"{asked} and {wrapped(test, _AND + 1)}", weight * 0.6, _AND)
                yield put("type.narrow", test, f"{whole} and {asked}", weight * 0.6, _AND)


def _values(test: Node, node: Node, place: Place) -> dict[str, float]:
    """Variables and attributes that the condition asks about, and those that its branch takes."""
    found: dict[str, float] = {}
    own = {name.text for name in place.own_variables}
    for part in test.walk():
        if part.kind == "identifier" and part.text in own and part.field not in {"function", "attribute"}:
            found.setdefault(part.text, 1.0)
        elif part.kind == "attribute" and part.text.startswith("self.") and part.text.count(".") == 1:
            found.setdefault(part.text, 0.8)
    body = block(node) or node.get("consequence")
    for part in body.walk() if body is not None else ():
        if part.kind == "identifier" and part.text in own:
            found.setdefault(part.text, 0.6)
    return dict(list(found.items())[:MAX_VALUES])


def of_own_kind(node: Node, place: Place) -> Iterator[Proposal]:
    """`return self.x == other.x` → `return isinstance(other, Leaf) and …`; for a class's own `__eq__` and its like."""
    owner = owner_of(place.statement)
    own = owner.get("name") if owner is not None else None
    value = node.parts[0] if node.parts else None
    if own is None or value is None or value.kind not in {"comparison_operator", "boolean_operator"}:
        return
    for part in value.walk():
        of, attribute = (
            (part.get("object"), part.get("attribute")) if part.kind == "attribute" else (None, None)
        )
        if (
            of is None
            or attribute is None
            or of.kind != "identifier"
            or of.text == "self"
            or attribute.text not in place.hints.missing
        ):
            continue
        for kind, weight in ((own.text, 1.0), ("type(self)", 0.5), ("self.__class__", 0.4)):
            new = f"isinstance({of.text}, {kind}) and {wrapped(value, _AND + 1)}"
            yield put("type.before", value, new, weight, _AND)
        return


def more_types(node: Node, place: Place) -> Iterator[Proposal]:
    """`isinstance(x, list)` → `isinstance(x, (list, tuple))`, for types that the failing examples show."""
    given = arguments(node)
    if called_name(node) != "isinstance" or len(given) != 2:
        return
    held = [part.text for part in given[1].parts] if given[1].kind == "tuple" else [given[1].text]
    for kind, likely in _types(place).items():
        if kind not in held and not kind.startswith("("):
            yield put("type.more", given[1], f"({', '.join([*held, kind])})", likely, ATOM)


TABLE: Table = {
    "comparison_operator": (by_instance, before_comparing),
    "if_statement": (narrower,),
    "elif_clause": (narrower,),
    "while_statement": (narrower,),
    "conditional_expression": (narrower,),
    "return_statement": (of_own_kind,),
    "call": (more_types,),
}
