"""Comparisons: boundary, direction, identity, membership, and the bound that goes with them."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import (
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    called_name,
    exchange,
    put,
    wrapped,
)
from deskagent.repair.nodes import Node

# operator → (other operator, which kind of change, how likely beside the others of that kind)
CHANGES: dict[str, tuple[tuple[str, str, float], ...]] = {
    "<": (("<=", "boundary", 1.0), (">", "flip", 1.0), (">=", "flip", 0.5), ("!=", "relation", 0.3)),
    "<=": (("<", "boundary", 1.0), (">=", "flip", 1.0), (">", "flip", 0.5), ("==", "relation", 0.3)),
    ">": ((">=", "boundary", 1.0), ("<", "flip", 1.0), ("<=", "flip", 0.5), ("!=", "relation", 0.3)),
    ">=": ((">", "boundary", 1.0), ("<=", "flip", 1.0), ("<", "flip", 0.5), ("==", "relation", 0.3)),
    "==": (("!=", "negate", 0.7), ("<=", "relation", 0.6), (">=", "relation", 0.6), ("is", "identity", 0.2),
           ("in", "membership", 0.4)),
    "!=": (("==", "negate", 0.7), ("<", "relation", 0.5), (">", "relation", 0.5), ("is not", "identity", 0.2),
           ("not in", "membership", 0.4)),
    "is": (("==", "identity", 1.0), ("is not", "negate", 0.8)),
    "is not": (("!=", "identity", 1.0), ("is", "negate", 0.8)),
    "in": (("not in", "negate", 0.8), ("==", "membership", 0.3)),
    "not in": (("in", "negate", 0.8), ("!=", "membership", 0.3)),
}  # fmt: skip
# `len(x) == 0` and its kin, where the bound and the operator go together.
SIZES: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("==", "0"): (("<=", "1"), ("<", "2")),
    ("==", "1"): (("<=", "1"), ("<", "2")),
    (">", "0"): ((">", "1"), (">=", "2")),
    ("!=", "0"): ((">", "1"),),
    ("<", "1"): (("<=", "1"), ("<", "2")),
    (">=", "1"): ((">", "1"),),
}
_SWAPPED = frozenset({"in", "not in"})
_NEAR_CONSTANTS = frozenset({"none", "true", "false"})


def operators(node: Node, place: Place) -> Iterator[Proposal]:
    """`<` → `<=`, `==` → `!=`, `is` → `==`."""
    parts = node.parts
    for index, token in enumerate(node.all("operators")):
        constant = any(part.kind in _NEAR_CONSTANTS for part in parts[index : index + 2])
        for new, change, weight in CHANGES.get(token.text, ()):
            if constant and change in {"relation", "membership"}:
                continue
            yield put(f"compare.{change}", token, new, weight)


def operands(node: Node, place: Place) -> Iterator[Proposal]:
    """`a in b` → `b in a`; for `<` turning it round is `operators`' work."""
    parts = node.parts
    tokens = node.all("operators")
    if len(parts) == 2 and len(tokens) == 1 and tokens[0].text in _SWAPPED:
        yield exchange("compare.operands", parts[0], parts[1], 0.5)
    if len(parts) == 2 and len(tokens) == 1 and tokens[0].text not in _SWAPPED:
        # One side alone: `x == y` was meant as a plain truth test.
        yield put("compare.drop", node, parts[0].text, 0.3, PRECEDENCE["|"])


def sizes(node: Node, place: Place) -> Iterator[Proposal]:
    """`len(x) == 0` → `len(x) <= 1`: empty and single are often one case; `x == 0` → `x <= 1` likewise."""
    parts = node.parts
    tokens = node.all("operators")
    if len(parts) != 2 or len(tokens) != 1 or parts[1].kind != "integer":
        return
    measured = parts[0].kind == "call" and called_name(parts[0]) == "len"
    for operator, bound in SIZES.get((tokens[0].text, parts[1].text), ()):
        weight = (1.0 if measured else 0.35) * (1.0 if len(operator) == 2 else 0.7)
        yield put(
            "compare.size",
            node,
            f"{parts[0].text} {operator} {bound}",
            weight,
            PRECEDENCE["comparison_operator"],
        )


def emptiness(node: Node, place: Place) -> Iterator[Proposal]:
    """`not x` ↔ `x is None`: empty and absent are two things."""
    parts = node.parts
    if (
        node.kind == "not_operator"
        and parts
        and parts[0].kind in {"identifier", "attribute", "call", "subscript"}
    ):
        text = f"{wrapped(parts[0], PRECEDENCE['|'])} is None"
        yield put("compare.empty", node, text, 0.8, PRECEDENCE["comparison_operator"])
        return
    tokens = node.all("operators")
    if len(parts) == 2 and len(tokens) == 1 and parts[1].kind == "none":
        if tokens[0].text in {"is", "=="}:
            yield put("compare.empty", node, f"not {parts[0].text}", 0.8, PRECEDENCE["not_operator"])
        elif tokens[0].text in {"is not", "!="}:
            yield put("compare.empty", node, parts[0].text, 0.8, PRECEDENCE["|"])


TABLE: Table = {"comparison_operator": (operators, operands, sizes, emptiness), "not_operator": (emptiness,)}
