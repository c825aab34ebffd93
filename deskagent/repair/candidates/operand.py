"""An operand left out: `x` → `x % n` where the file does so with its like, `x - len(y)`, `abs(a - b)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from deskagent.repair.candidates.base import (
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    called_name,
    is_value,
    put,
    similarity,
    wrapped,
)
from deskagent.repair.candidates.known import free_names, owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS, role
from deskagent.repair.syntax import Syntax

_OPERATORS = frozenset({"%", "//", "+", "-", "*", "/", "&", "|", "<<", ">>"})
_COUNTED = frozenset({"list", "str", "tuple", "iter"})
_NOT_NUMBERS = frozenset({"string", "concatenated_string", "list", "dictionary", "set", "tuple", "true", "false",
                          "none", "lambda", "list_comprehension", "generator_expression"})  # fmt: skip


@dataclass(frozen=True)
class _Operation:
    """`left operator right` as it stands in the file; `where` is what it is used for."""

    left: Node
    operator: str
    right: Node
    where: str
    owner: Node | None


@lru_cache(maxsize=32)
def _operations(syntax: Syntax) -> tuple[_Operation, ...]:
    found: dict[tuple[str, str, str], _Operation] = {}
    for node in syntax.root.walk():
        if node.kind not in {"binary_operator", "augmented_assignment"}:
            continue
        left, right, token = node.get("left"), node.get("right"), node.get("operator")
        if left is None or right is None or token is None or node.end - node.start > 80:
            continue
        sign = token.text.removesuffix("=")
        if sign not in _OPERATORS or left.kind in _NOT_NUMBERS or right.kind in _NOT_NUMBERS:
            continue
        where = _where(node) if node.kind == "binary_operator" else left.text
        found.setdefault((left.text, sign, right.text), _Operation(left, sign, right, where, owner_of(node)))
    return tuple(found.values())[:120]


def _where(node: Node) -> str:
    """What a value is for: the name it is given, the sequence it is an index of, the function that gets it."""
    top = node
    while top.parent is not None and top.parent.kind == "parenthesized_expression":
        top = top.parent
    parent = top.parent
    if parent is None:
        return ""
    if parent.kind in {"assignment", "augmented_assignment"} and (left := parent.get("left")) is not None:
        return left.text
    if parent.kind == "subscript" and (value := parent.get("value")) is not None:
        return f"{value.text}[]"
    if parent.kind == "argument_list" and parent.parent is not None:
        return f"{called_name(parent.parent)}()"
    return parent.kind


def borrowed(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `x % n`, `n - x` as the file does with something like it."""
    if not _fits(node, place):
        return
    where, owner = _where(node), owner_of(node)
    parent = node.parent
    beside = parent.text if parent is not None and parent.kind == "binary_operator" else ""
    offered: dict[str, tuple[float, int]] = {}
    names = place.names_at(node)
    for operation in _operations(place.syntax):
        sign, level = operation.operator, PRECEDENCE[operation.operator]
        shared = 0.25 * (operation.owner is owner and owner is not None)
        goal = 0.25 if operation.where == where else 0.15 if similarity(operation.where, where) > 0.5 else 0.0
        for other, first in ((operation.right, False), (operation.left, True)):
            twin = operation.left if other is operation.right else operation.right
            if first and sign in {"%", "<<", ">>"}:
                continue
            if other.text == node.text or other.text in beside or not free_names(other) <= names.keys():
                continue
            alike = similarity(twin.text, node.text)
            weight = 0.15 + shared + goal + 0.3 * alike + (0.15 if sign == "%" else 0.0)
            if first and sign not in {"-", "/", "//"}:
                continue  # the other way round is the same
            if other.kind == "integer" and alike < 0.5:
                weight *= 0.4
            one = wrapped(other, level) if first else wrapped(node, level)
            two = wrapped(node, level + 1) if first else wrapped(other, level + 1)
            new = f"{one} {sign} {two}"
            if weight > offered.get(new, (0.0, 0))[0]:
                offered[new] = (weight, level)
    for new, (weight, level) in sorted(offered.items(), key=lambda item: -item[1][0])[:20]:
        yield put("arithmetic.operand", node, new, min(1.0, weight), level)


def _fits(node: Node, place: Place) -> bool:
    """Whether `node` may be a number that stands where something can be done to it."""
    parent = node.parent
    if parent is None or not is_value(node) or parent.kind in {"attribute", "not_operator", "interpolation"}:
        return False
    kind = place.kind(node)
    if kind and kind not in NUMBERS:
        return False
    if node.field == "value" and parent.kind == "subscript":
        return False
    if parent.kind in {"for_statement", "for_in_clause"}:
        return False
    if node.kind == "identifier":
        name = place.names_at(node).get(node.text)
        if name is None or name.origin in {"definition", "import"} or name.attributes or name.subscripted:
            return False
        return name.could_be(set(NUMBERS))
    return node.kind != "call" or called_name(node) not in {"range", "print", "str", "isinstance"}


def size(node: Node, place: Place) -> Iterator[Proposal]:
    """`width` → `width - len(mark)`, `+ len(mark)`, for a sequence in scope."""
    if not _fits(node, place):
        return
    parent = node.parent
    assert parent is not None
    slot = parent.kind in {"slice", "subscript", "comparison_operator", "argument_list", "binary_operator"}
    if not slot and parent.kind not in {"assignment", "augmented_assignment", "return_statement"}:
        return
    known = place.numeric(node)
    beside = {part.text for part in place.nodes if part.kind == "identifier" and role(part) == "read"}
    inner = {part.text for part in node.walk() if part.kind == "identifier"}
    for name in place.variables(node):
        counted = bool(name.kinds & _COUNTED) or f"len({name.text})" in _lengths(place.syntax)
        maybe = not name.kinds and name.origin == "parameter" and name.text != "self" and not name.attributes
        if not (counted or maybe) or name.text in inner or name.kinds & (NUMBERS | {"bool", "call"}):
            continue
        weight = (1.0 if name.text in beside else 0.4) * (1.0 if known else 0.6) * (1.0 if counted else 0.4)
        if f"len({name.text})" in _lengths(place.syntax):
            weight *= 1.3
        if parent.kind == "slice":
            weight *= 1.2
        if f"len({name.text})" in parent.text:
            weight *= 0.3
        for sign, share in (("-", 0.6), ("+", 0.5)):
            text = f"{wrapped(node, PRECEDENCE['+'])} {sign} len({name.text})"
            yield put("arithmetic.size", node, text, min(1.0, weight * share), PRECEDENCE["+"])


@lru_cache(maxsize=32)
def _lengths(syntax: Syntax) -> frozenset[str]:
    """The `len(…)` calls of the file."""
    return frozenset(
        call.text for call in syntax.calls if called_name(call) == "len" and call.end - call.start < 40
    )


def absolute(node: Node, place: Place) -> Iterator[Proposal]:
    """`a - b` → `abs(a - b)`, most of all where it is compared with a bound."""
    token = node.get("operator")
    if token is None or token.text != "-" or not is_value(node):
        return
    parent = node.parent
    if parent is None or (parent.kind == "argument_list" and parent.parent is not None
                          and called_name(parent.parent) == "abs"):  # fmt: skip
        return
    bounded = parent.kind == "comparison_operator"
    if not bounded and any(place.kind(part) in {"str", "set", "list"} for part in node.parts):
        return
    weight = 1.0 if bounded else 0.4
    if any(part.kind == "integer" for part in node.parts):
        weight *= 0.3
    yield put("arithmetic.absolute", node, f"abs({node.text})", weight)


def window(node: Node, place: Place) -> Iterator[Proposal]:
    """`len(x)` → `len(x) - n + 1`: how many places there are for `n` in a row."""
    if called_name(node) != "len" or not is_value(node):
        return
    parent = node.parent
    if parent is None or parent.kind == "binary_operator":
        return
    weight = 1.0 if parent.kind == "argument_list" else 0.4
    for name in place.own_variables:
        if (
            name.could_be({"int"})
            and name.text not in node.text
            and not (name.subscripted or name.attributes)
        ):
            share = weight if "int" in name.kinds else weight * 0.6
            yield put("arithmetic.window", node, f"{node.text} - {name.text} + 1", share, PRECEDENCE["+"])
            yield put("arithmetic.window", node, f"{node.text} - {name.text}", share * 0.8, PRECEDENCE["+"])


def unused(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `x / total` for a number that was worked out and is read nowhere."""
    if not _fits(node, place):
        return
    for name in place.own_variables:
        if name.reads or name.origin not in {"local", "parameter"} or name.text == node.text:
            continue
        if not name.could_be(set(NUMBERS)) or name.subscripted or name.attributes or name.fills:
            continue
        for sign, share in (("/", 0.7), ("*", 0.6), ("+", 0.6), ("-", 0.6), ("//", 0.5), ("%", 0.4)):
            level = PRECEDENCE[sign]
            yield put("arithmetic.unused", node, f"{wrapped(node, level)} {sign} {name.text}", share, level)


def step(node: Node, place: Place) -> Iterator[Proposal]:
    """`at + 1` → `at + len(needle)`: as far as what was found is long."""
    parent = node.parent
    if (
        parent is None
        or parent.kind not in {"binary_operator", "augmented_assignment"}
        or node.text not in {"1", "0"}
    ):
        return
    for name in place.variables(node):
        if (
            name.kinds & {"str", "list", "tuple"}
            or f"len({name.text})" in _lengths(place.syntax)
            or not name.kinds
        ):
            known = bool(name.kinds) or f"len({name.text})" in _lengths(place.syntax)
            if not name.attributes or known:
                yield put("arithmetic.size", node, f"len({name.text})", 0.7 if known else 0.4)


TABLE: Table = {
    "identifier": (borrowed, size, unused),
    "attribute": (borrowed, size, unused),
    "binary_operator": (borrowed, size, absolute),
    "call": (borrowed, unused, window),
    "subscript": (borrowed, unused),
    "integer": (size, step),
}
