"""Conditions: negated, a part too many, a part missing, and/or, loops that end too early or never."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import PRECEDENCE, Place, Proposal, Table, precedence, put, wrapped
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS

_CONDITIONAL = frozenset({"if_statement", "elif_clause", "while_statement"})
_NEGATED = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}
_OR, _AND, _NOT = PRECEDENCE["or"], PRECEDENCE["and"], PRECEDENCE["not_operator"]


def conjunction(node: Node, place: Place) -> Iterator[Proposal]:
    """`a and b` → `a or b`, `a`, `b`, `not a and b`; `a and b or c` grouped otherwise."""
    left, right, token = node.get("left"), node.get("right"), node.get("operator")
    if left is None or right is None or token is None:
        return
    other = "or" if token.text == "and" else "and"
    text = f"{wrapped(left, PRECEDENCE[other])} {other} {wrapped(right, PRECEDENCE[other] + 1)}"
    yield put("condition.connective", node, text, 1.0, PRECEDENCE[other])
    for part in (left, right):
        yield put("condition.drop", node, part.text, 0.9, precedence(part))
    for part in (left, right):
        if part.kind not in {"comparison_operator", "boolean_operator", "not_operator"}:
            yield put("condition.negate", part, f"not {wrapped(part, _NOT)}", 0.6, _NOT)
    for side in (left, right):
        nested = side.parts[0] if side.kind == "parenthesized_expression" and side.parts else side
        inside = nested.get("operator") if nested.kind == "boolean_operator" else None
        if inside is not None and inside.text != token.text and side is not nested:
            edits = ((token.start, token.end, other), (inside.start, inside.end, token.text))
            yield Proposal("condition.connective", 0.7, edits, f"exchange {token.text} and {inside.text}")
    if (
        left.kind == "boolean_operator"
        and (inner := left.get("operator")) is not None
        and inner.text != token.text
    ):
        a, b = left.get("left"), left.get("right")
        if a is not None and b is not None and token.text == "or":
            yield put("condition.grouping", node, f"{a.text} and ({b.text} or {right.text})", 0.8, _AND)


def negation(node: Node, place: Place) -> Iterator[Proposal]:
    """`not x` → `x`."""
    parts = node.parts
    if parts:
        yield put("condition.positive", node, parts[0].text, 1.0, precedence(parts[0]))


def tests(node: Node) -> Iterator[Node]:
    """The conditions that stand in a statement's or an expression's own text."""
    if node.kind in _CONDITIONAL:
        condition = node.get("condition")
        if condition is not None:
            yield condition
    elif node.kind == "if_clause":
        yield from node.parts[:1]
    elif node.kind == "conditional_expression" and len(node.parts) == 3:
        yield node.parts[1]
    elif node.kind == "return_statement" and node.parts:
        value = node.parts[0]
        if value.kind in {"comparison_operator", "boolean_operator", "not_operator"}:
            yield value


def whole(node: Node, place: Place) -> Iterator[Proposal]:
    """A condition negated, or made constant."""
    for test in tests(node):
        inner = test.parts[0] if test.kind == "parenthesized_expression" and test.parts else test
        if inner.kind == "not_operator":
            continue  # `negation`
        if inner.kind == "comparison_operator" and any(t.text in _NEGATED for t in inner.all("operators")):
            continue  # `compare.negate`
        yield put("condition.negate", test, f"not {wrapped(inner, _NOT)}", 0.8, _NOT)


def loop(node: Node, place: Place) -> Iterator[Proposal]:
    """`while True` ↔ `while x`."""
    condition = node.get("condition")
    if condition is None:
        return
    if condition.kind in {"true", "integer"}:
        body = node.get("body")
        read = {n.text for n in body.walk() if n.kind == "identifier"} if body is not None else set()
        for name in place.own_variables:
            if name.text in read or name.origin == "parameter":
                filled = bool(name.kinds & {"list", "set", "dict", "iter"}) or bool(name.attributes)
                yield put("condition.loop", condition, name.text, 1.0 if filled else 0.4)
                if not filled:
                    yield put(
                        "condition.loop",
                        condition,
                        f"{name.text} is not None",
                        0.3,
                        PRECEDENCE["comparison_operator"],
                    )
                if "int" in name.kinds:
                    yield put(
                        "condition.loop",
                        condition,
                        f"{name.text} > 0",
                        0.3,
                        PRECEDENCE["comparison_operator"],
                    )
    else:
        yield put("condition.loop", condition, "True", 0.2)


def extra(node: Node, place: Place) -> Iterator[Proposal]:
    """A part put to a condition: `x is None or …`, `… and x`, `… or not x`."""
    for test in tests(node):
        inside = {part.text for part in test.walk() if part.kind == "identifier"}
        for part, weight, before in _parts(test, inside, place):
            for connective, level in (("and", _AND), ("or", _OR)):
                negative = part.startswith("not ") or part.endswith((" is None", " == 0"))
                # `x is None or …` leaves early; `x is not None and …` goes on.
                factor = 1.0 if negative == (connective == "or") else 0.35
                old = wrapped(test, level + (1 if before else 0))
                text = (
                    f"{part} {connective} {old}" if before else f"{wrapped(test, level)} {connective} {part}"
                )
                yield put("condition.extra", test, text, weight * factor, level)


def _parts(test: Node, inside: set[str], place: Place) -> Iterator[tuple[str, float, bool]]:
    """(condition, weight, whether it has to stand first) that may be missing beside `test`."""
    guarded = {
        owner.text
        for part in test.walk()
        if part.kind in {"attribute", "subscript"}
        for owner in (part.get("object") or part.get("value"),)
        if owner is not None and owner.kind in {"identifier", "attribute"}
    }
    nones = place.hints.none_attributes
    looked_up = {
        owner.text
        for part in test.walk()
        if part.kind == "attribute"
        and (attribute := part.get("attribute")) is not None
        and attribute.text in nones
        for owner in (part.get("object"),)
        if owner is not None
    }
    for owner in sorted(guarded):
        if owner == "self":
            continue
        weight = 1.0 if owner in looked_up else 0.6
        yield f"{owner} is None", weight, True
        yield f"{owner} is not None", weight, True
        yield f"not {owner}", weight * 0.6, True
        yield owner, weight * 0.6, True
    for name in place.own_variables:
        if name.text in guarded or name.kinds & {"call"}:
            continue
        near = 0.7 if name.origin == "parameter" else 0.45
        if name.text in inside:
            near *= 0.5
        if not name.kinds or name.kinds & {"list", "dict", "set", "str", "iter", "bool"}:
            yield name.text, near, False
            yield f"not {name.text}", near, False
        if name.kinds & NUMBERS:
            yield f"{name.text} == 0", near * 0.4, False
            yield f"{name.text} > 0", near * 0.3, False
        if not name.kinds and name.text not in inside:
            yield f"{name.text} is None", near * 0.4, False
            yield f"{name.text} is not None", near * 0.4, False
    for other in place.expressions("comparison_operator", "call"):
        if other.text in test.text or other.inside(test) or (other.kind == "call" and not _truth(other)):
            continue
        yield other.text, 0.3, False
        if other.kind == "call":
            yield f"not {other.text}", 0.3, False


def _truth(call: Node) -> bool:
    function = call.get("function")
    text = function.text if function is not None else ""
    return text.rpartition(".")[2].startswith(("is", "has", "can", "starts", "ends", "callable", "should"))


TABLE: Table = {
    "boolean_operator": (conjunction,),
    "not_operator": (negation,),
    "if_statement": (whole, extra),
    "elif_clause": (whole, extra),
    "while_statement": (whole, extra, loop),
    "if_clause": (whole, extra),
    "conditional_expression": (whole, extra),
    "return_statement": (whole, extra),
}
