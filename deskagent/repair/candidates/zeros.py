"""Negative zero: `-0.0` where the failing test wants `0.0`."""

from __future__ import annotations

import math
from collections.abc import Iterator

from deskagent.repair.candidates.base import PRECEDENCE, Place, Proposal, Table, called_name, put, wrapped
from deskagent.repair.nodes import Node

_ROUNDS = frozenset({"round", "fsum", "fmod", "copysign", "trunc"})


def negative(place: Place) -> bool:
    """Whether what came has a zero below zero where what is wanted has none."""
    return any(_below(came) and not _below(wanted) for wanted, came in place.hints.examples.pairs)


def _below(value: object) -> bool:
    if isinstance(value, float):
        return value == 0 and math.copysign(1.0, value) < 0
    return isinstance(value, str) and any(
        word.lstrip("-") != word and not word.strip("-0.") for word in value.strip("%").split()
    )


def positive(node: Node, place: Place) -> Iterator[Proposal]:
    """`round(x, 1)` → `round(x, 1) + 0.0`, which is zero without a sign; `f"{x:.1f}"` → `f"{x:z.1f}"` or of the same
    rounded before."""
    if not negative(place):
        return
    plus = PRECEDENCE["+"]
    if node.kind == "interpolation":
        value, form = (node.parts[0] if node.parts else None), node.get("format_specifier")
        if value is None:
            return
        yield put("arithmetic.zero", value, f"{wrapped(value, plus)} + 0.0", 0.7, plus)
        digits = form.text.lstrip(":").lstrip(".").rstrip("fF") if form is not None else ""
        if digits.isdigit():
            yield put("arithmetic.zero", value, f"round({value.text}, {digits}) + 0.0", 0.9, plus)
        return
    rounds = node.kind == "call" and called_name(node) in _ROUNDS
    if rounds or (node.kind == "binary_operator" and (operator := node.get("operator")) is not None
                  and operator.text in {"*", "/", "%", "//"}) or node.kind == "unary_operator":  # fmt: skip
        weight = 1.0 if rounds else 0.5
        yield put("arithmetic.zero", node, f"{wrapped(node, plus)} + 0.0", weight, plus)
        yield put(
            "arithmetic.zero",
            node,
            f"{wrapped(node, PRECEDENCE['or'])} or 0.0",
            weight * 0.5,
            PRECEDENCE["or"],
        )


TABLE: Table = {
    "call": (positive,),
    "binary_operator": (positive,),
    "unary_operator": (positive,),
    "interpolation": (positive,),
}
