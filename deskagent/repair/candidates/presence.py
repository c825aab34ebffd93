"""Whether a thing is there, asked in other words: `d.get(k)` ↔ `k in d`, `d.get(k) or y` → `d.get(k, y)`, every part of
a condition at once. `absent` has the test for None of one name; here it is where the example shows 0 or an
empty value."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import (
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
from deskagent.repair.nodes import Node

_PLAIN = frozenset({"identifier", "attribute", "call", "subscript", "named_expression"})
_COMPARED, _BITS = PRECEDENCE["comparison_operator"], PRECEDENCE["|"]


def _operands(test: Node) -> Iterator[Node]:
    """The parts of a condition that are asked for their truth alone."""
    if test.kind == "parenthesized_expression" and test.parts:
        yield from _operands(test.parts[0])
    elif test.kind == "boolean_operator":
        for side in (test.get("left"), test.get("right")):
            if side is not None:
                yield from _operands(side)
    elif test.kind == "not_operator" and test.parts:
        yield from (part for part in _operands(test.parts[0]) if part is not test.parts[0])
    else:
        yield test


def present(node: Node, place: Place) -> Iterator[Proposal]:
    """A condition `f()` → `f() is not None`, `d.get(k)` → `k in d`; `a and b` → both at once."""
    asserted = node.parts[:1] if node.kind == "assert_statement" else []
    for test in (*tests(node), *asserted):
        if node.kind == "return_statement" and test.kind != "boolean_operator":
            continue
        plain = [part for part in _operands(test) if part.kind in _PLAIN and not _truth(part)]
        for part in plain:
            likely = _likely(part, place)
            if likely >= 1.0 or part.kind not in {"identifier", "attribute"}:
                yield from _present(part, likely)
        if len(plain) > 1:
            changes = [
                put("", part, f"{wrapped(part, _BITS)} is not None", 1.0, _COMPARED).edits for part in plain
            ]
            edits = tuple(edit for change in changes for edit in change)
            yield Proposal(
                "condition.presence", _likely(plain[0], place), edits, f"{test.text[:50]}: each is not None"
            )


def _present(part: Node, weight: float) -> Iterator[Proposal]:
    text = part.text if part.parent is not None and part.parent.kind == "parenthesized_expression" else None
    plain = text if text is not None else wrapped(part, _BITS)
    if part.kind == "named_expression" and text is not None:
        yield put("condition.presence", part, f"({part.text}) is not None", weight, _COMPARED)
        return
    yield put("condition.presence", part, f"{plain} is not None", weight, _COMPARED)
    given = arguments(part) if part.kind == "call" else []
    function = part.get("function") if part.kind == "call" else None
    owner = function.get("object") if function is not None and function.kind == "attribute" else None
    if owner is not None and called_name(part) == "get" and given:
        yield put("condition.presence", part, f"{given[0].text} in {owner.text}", weight, _COMPARED)
    if part.kind == "subscript":
        value, index = part.get("value"), part.get("subscript")
        if value is not None and index is not None:
            yield put("condition.presence", part, f"{index.text} in {value.text}", weight * 0.7, _COMPARED)


def _truth(part: Node) -> bool:
    """Whether it is a yes or no by its name."""
    name = called_name(part) if part.kind == "call" else part.text.rpartition(".")[2]
    return name.lstrip("_").startswith(
        ("is", "has", "can", "starts", "ends", "callable", "any", "all", "should")
    )


def _likely(part: Node, place: Place) -> float:
    """1 where 0, "" or an empty collection was handed in or wanted."""
    shown = (*place.hints.examples.given, *place.hints.examples.expected)
    falsy = any(not value and value is not None and value is not False for value in shown)
    kind = place.kind(part)
    return (1.0 if falsy else 0.6) * (0.4 if kind == "bool" else 1.0)


def either(node: Node, place: Place) -> Iterator[Proposal]:
    """`x or y` → `y if x is None else x`; `d.get(k) or y` → `d.get(k, y)`."""
    left, right, token = node.get("left"), node.get("right"), node.get("operator")
    if left is None or right is None or token is None:
        return
    if left.kind in {"comparison_operator", "not_operator", "boolean_operator"}:
        return
    weight = _likely(left, place)
    if token.text == "or" and left.kind in _PLAIN:
        own = wrapped(left, _BITS)
        text = f"{wrapped(right, 1)} if {own} is None else {left.text}"
        yield put("condition.presence", node, text, weight, 0)
        given = arguments(left) if left.kind == "call" else []
        if called_name(left) == "get" and len(given) == 1:
            at = given[0].end
            head = left.syntax.source.utf8[left.start : at].decode("utf-8", "replace")
            yield put("condition.presence", node, f"{head}, {right.text})", weight)


def filtered(node: Node, place: Place) -> Iterator[Proposal]:
    """`filter(None, xs)` → `(x for x in xs if x is not None)`; `bool(x)` → `x is not None`."""
    name, given = called_name(node), arguments(node)
    if name == "filter" and len(given) == 2 and given[0].kind == "none":
        single = "x" if given[1].text != "x" else "each"
        new = f"{single} for {single} in {given[1].text} if {single} is not None"
        parent = node.parent
        if parent is not None and parent.kind == "argument_list" and len(parent.parts) == 1:
            yield put("condition.presence", node, new, 0.9)
            call = parent.parent
            if call is not None and called_name(call) == "list":
                yield put("condition.presence", call, f"[{new}]", 1.0)
        else:
            yield put("condition.presence", node, f"({new})", 1.0)
    if name == "bool" and len(given) == 1:
        yield put("condition.presence", node, f"{wrapped(given[0], _BITS)} is not None", 0.9, _COMPARED)


def negated(node: Node, place: Place) -> Iterator[Proposal]:
    """`not d.get(k)` → `k not in d`; `any(…)` and its like are left alone."""
    inner = node.parts[0] if node.parts else None
    if inner is None or inner.kind not in {"call", "subscript"}:
        return
    if inner.kind == "call":
        function, given = inner.get("function"), arguments(inner)
        owner = function.get("object") if function is not None and function.kind == "attribute" else None
        if called_name(inner) == "get" and owner is not None and given:
            yield put("condition.presence", node, f"{given[0].text} not in {owner.text}", 0.8, _COMPARED)
    else:
        value, index = inner.get("value"), inner.get("subscript")
        if value is not None and index is not None:
            yield put("condition.presence", node, f"{index.text} not in {value.text}", 0.6, _COMPARED)


_ROWS = (present,)
TABLE: Table = {
    "if_statement": _ROWS,
    "elif_clause": _ROWS,
    "while_statement": _ROWS,
    "if_clause": _ROWS,
    "conditional_expression": _ROWS,
    "assert_statement": _ROWS,
    "return_statement": _ROWS,
    "boolean_operator": (either,),
    "not_operator": (negated,),
    "call": (filtered,),
}
