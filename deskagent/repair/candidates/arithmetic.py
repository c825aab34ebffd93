"""Arithmetic and bit operators, their operands, terms left out or too many, off-by-one."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import (
    ATOM,
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    called_name,
    is_value,
    precedence,
    put,
    similarity,
    wrapped,
)
from deskagent.repair.nodes import Node
from deskagent.repair.scope import BUILTINS, NUMBERS

CHANGES: dict[str, tuple[tuple[str, float], ...]] = {
    "+": (("-", 1.0), ("*", 0.4), ("|", 0.1)),
    "-": (("+", 1.0), ("*", 0.2), ("//", 0.2)),
    "*": (("+", 0.5), ("/", 0.5), ("**", 0.5), ("//", 0.4), ("-", 0.2)),
    "/": (("//", 1.0), ("*", 0.6), ("%", 0.3), ("-", 0.2)),
    "//": (("/", 0.9), ("%", 0.6), ("*", 0.3), (">>", 0.1)),
    "%": (("//", 0.8), ("/", 0.4), ("*", 0.2)),
    "**": (("*", 1.0), ("^", 0.1)),
    "&": (("|", 1.0), ("^", 0.5)),
    "|": (("&", 1.0), ("^", 0.5), ("-", 0.1)),
    "^": (("&", 1.0), ("|", 0.9), ("**", 0.4)),
    "<<": ((">>", 1.0),),
    ">>": (("<<", 1.0),),
}
_ORDERED = frozenset({"-", "/", "//", "%", "**", "<<", ">>", "@"})


def operator(node: Node, place: Place) -> Iterator[Proposal]:
    """`a + b` → `a - b`, `/` → `//`; likewise `+=` → `-=`."""
    token = node.get("operator")
    if token is None:
        return
    augmented = node.kind == "augmented_assignment"
    text = token.text.removesuffix("=") if augmented else token.text
    if text == "%" and node.parts and place.kind(node.parts[0]) == "str":
        return
    for new, weight in CHANGES.get(text, ()):
        if augmented:
            yield put("arithmetic.augmented", token, new + "=", weight)
        elif precedence(node) == PRECEDENCE[new] or all(precedence(part) == ATOM for part in node.parts):
            left, right = (
                wrapped(part, PRECEDENCE[new] + extra)
                for part, extra in zip(node.parts, (0, 1), strict=False)
            )
            if PRECEDENCE[new] < precedence(node):
                yield put("arithmetic.operator", node, f"{left} {new} {right}", weight, PRECEDENCE[new])
            else:
                yield put("arithmetic.operator", token, new, weight)


def operands(node: Node, place: Place) -> Iterator[Proposal]:
    """`a - b` → `b - a`, and `a + b` of sequences; one operand alone."""
    left, right, token = node.get("left"), node.get("right"), node.get("operator")
    if left is None or right is None or token is None:
        return
    kinds = {place.kind(left), place.kind(right)}
    if left.text != right.text and (token.text in _ORDERED or (token.text == "+" and not kinds & NUMBERS)):
        level = precedence(node)
        tight = level + (token.text != "**")
        text = f"{wrapped(right, level)} {token.text} {wrapped(left, tight)}"
        weight = 1.0 if kinds & {"str", "list"} or token.text != "+" else 0.7
        yield put("arithmetic.operands", node, text, weight, level)
    yield put("arithmetic.drop", node, left.text, 0.8, precedence(left))
    yield put("arithmetic.drop", node, right.text, 0.9 if token.text in "+-" else 0.6, precedence(right))


def grouping(node: Node, place: Place) -> Iterator[Proposal]:
    """`a + b * c` → `(a + b) * c`, and the other way round."""
    left, right, token = node.get("left"), node.get("right"), node.get("operator")
    if left is None or right is None or token is None:
        return
    for side, other, first in ((left, right, True), (right, left, False)):
        if side.kind == "parenthesized_expression" and side.parts and side.parts[0].kind == "binary_operator":
            inner = side.parts[0]
            if precedence(inner) < precedence(node):
                text = (
                    f"{inner.text} {token.text} {other.text}"
                    if first
                    else f"{other.text} {token.text} {inner.text}"
                )
                yield put("arithmetic.grouping", node, text, 0.6, precedence(inner))
        elif side.kind == "binary_operator" and precedence(side) > precedence(node):
            a, b, inner = side.get("left"), side.get("right"), side.get("operator")
            if a is None or b is None or inner is None:
                continue
            if first:
                text = f"{wrapped(a, precedence(side))} {inner.text} ({b.text} {token.text} {other.text})"
            else:
                text = f"({other.text} {token.text} {a.text}) {inner.text} {wrapped(b, precedence(side))}"
            yield put("arithmetic.grouping", node, text, 1.0, precedence(side))


def _called(node: Node, place: Place) -> bool:
    """Whether a name is that of a class or function: no number."""
    if node.kind != "identifier":
        return False
    known = place.names_at(node).get(node.text)
    return node.text in BUILTINS if known is None else known.origin in {"definition", "builtin"}


def offset(node: Node, place: Place) -> Iterator[Proposal]:
    """`n` → `n + 1`, `n - 1`, where it may be a number."""
    if not is_value(node) or not _countable(node, place) or _called(node, place):
        return
    parent = node.parent
    known = place.kind(node) in NUMBERS
    weight = 1.0 if known or place.numeric(node) else 0.45
    if node.kind == "binary_operator":
        weight *= 0.6
    if parent is not None and parent.kind in {"subscript", "slice"}:
        weight = 1.0
    if parent is not None and parent.kind == "binary_operator":
        beside = parent.get("right")
        if beside is not None and beside.kind == "integer" and beside is not node:
            weight *= 0.3  # `n - 1` is the constant's work
    for sign in "+-":
        text = f"{wrapped(node, PRECEDENCE['+'])} {sign} 1"
        yield put("arithmetic.offset", node, text, weight, PRECEDENCE["+"])


def _countable(node: Node, place: Place) -> bool:
    parent = node.parent
    kind = place.kind(node)
    if kind and kind not in NUMBERS:
        return False
    if node.kind == "binary_operator":
        token = node.get("operator")
        return (
            token is not None
            and token.text in {"+", "-", "//", "*"}
            and parent is not None
            and parent.kind != node.kind
        )
    if node.kind == "call":
        return called_name(node) in {
            "len",
            "int",
            "max",
            "min",
            "abs",
            "round",
            "sum",
            "index",
            "find",
            "count",
        } or bool(
            place.function is not None
            and (name := place.function.get("name"))
            and name.text == called_name(node)
        )
    if parent is not None and parent.kind in {"attribute", "not_operator"}:
        return False
    if parent is not None and parent.kind == "subscript" and node.field == "value":
        return False
    if parent is not None and parent.kind in {"for_statement", "for_in_clause"} and node.field == "right":
        return False
    if node.kind == "identifier":
        name = place.names_at(node).get(node.text)
        return name is None or (
            name.origin not in {"definition", "import"} and not (name.subscripted or name.attributes)
        )
    return True


def term(node: Node, place: Place) -> Iterator[Proposal]:
    """`k` → `k - n` for a number `n` in scope."""
    if node.kind == "identifier" and is_value(node) and _countable(node, place):
        for name in place.own_variables:
            if (
                name.text == node.text
                or not name.could_be(set(NUMBERS))
                or name.subscripted
                or name.attributes
            ):
                continue
            weight = 0.7 if name.kinds & NUMBERS else 0.25
            yield put("arithmetic.term", node, f"{node.text} - {name.text}", weight, PRECEDENCE["+"])
            yield put("arithmetic.term", node, f"{node.text} + {name.text}", weight * 0.9, PRECEDENCE["+"])
            yield put("arithmetic.term", node, f"{node.text} * {name.text}", weight * 0.3, PRECEDENCE["*"])
    if node.kind in {"list_comprehension", "call", "identifier", "list"} and is_value(node):
        yield from _joined(node, place)


def _joined(node: Node, place: Place) -> Iterator[Proposal]:
    """`[f(x) for x in rest]` → `rest + […]`: sequences are added to each other."""
    parent = node.parent
    if (
        parent is None
        or parent.kind not in {"return_statement", "assignment"}
        or place.kind(node) not in {"list", "str", ""}
    ):
        return
    for name in place.own_variables:
        if not name.kinds & {"list", "str", "iter"} and place.kind(node) != "list":
            continue
        if name.text == node.text or name.kinds & (NUMBERS | {"dict", "set", "call", "bool"}):
            continue
        weight = 0.6 if similarity(name.text, node.text) > 0.3 or name.text in node.text else 0.3
        yield put("arithmetic.join", node, f"{name.text} + {node.text}", weight, PRECEDENCE["+"])
        yield put("arithmetic.join", node, f"{node.text} + {name.text}", weight, PRECEDENCE["+"])


def scale(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `x ** 2`, `2 * x`, `x // 2`, `-x`, `abs(x)`, inside arithmetic or a comparison."""
    parent = node.parent
    if parent is None or not is_value(node) or not _countable(node, place):
        return
    if parent.kind not in {"binary_operator", "comparison_operator", "argument_list", "return_statement"}:
        return
    weight = 1.0 if parent.kind == "binary_operator" else 0.5
    for new, factor, level in (
        (f"{node.text} ** 2", 0.6, PRECEDENCE["**"]),
        (f"{node.text} * 2", 0.5, PRECEDENCE["*"]),
        (f"{node.text} // 2", 0.5, PRECEDENCE["//"]),
        (f"{node.text} / 2", 0.3, PRECEDENCE["/"]),
        (f"-{node.text}", 0.6, PRECEDENCE["unary_operator"]),
        (f"abs({node.text})", 0.5, ATOM),
    ):
        yield put("arithmetic.scale", node, new, weight * factor, level)


def unary(node: Node, place: Place) -> Iterator[Proposal]:
    """`-x` → `x`."""
    argument = node.get("argument")
    if argument is not None:
        yield put("arithmetic.unary", node, argument.text, 1.0, precedence(argument))


def augment(node: Node, place: Place) -> Iterator[Proposal]:
    """`total = x` ↔ `total += x`."""
    left, right = node.get("left"), node.get("right")
    if left is None or right is None or right.kind == "assignment":
        return
    token = node.get("operator") or next((child for child in node.children if child.kind == "="), None)
    if token is None or node.get("type") is not None:
        return
    if node.kind == "augmented_assignment":
        yield put("arithmetic.augment", token, "=", 0.6)
    elif left.kind in {"identifier", "attribute", "subscript"} and place.in_loop is not None:
        earlier = left.kind != "identifier" or any(
            n.text == left.text and n.writes > 1 for n in place.own_variables
        )
        if earlier and left.text not in right.text:
            yield put("arithmetic.augment", token, "+=", 0.8)
            if place.kind(right) in NUMBERS:
                yield put("arithmetic.augment", token, "-=", 0.3)


TABLE: Table = {
    "binary_operator": (operator, operands, grouping, offset),
    "augmented_assignment": (operator, augment),
    "assignment": (augment,),
    "unary_operator": (unary,),
    "identifier": (offset, term, scale),
    "call": (offset, term),
    "subscript": (offset, scale),
    "attribute": (offset,),
    "list_comprehension": (term,),
}
