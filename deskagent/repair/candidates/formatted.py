"""What a text is made of: a value converted where it is filled in, and the one value of `%` in a tuple of its own."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, called_name, put
from deskagent.repair.candidates.calls import WRAPPERS
from deskagent.repair.nodes import Node

_FILLED = frozenset({"identifier", "attribute", "subscript", "call"})
_VALUE = frozenset({"identifier", "attribute", "subscript"})
_UNTUPLED = frozenset({"arguments", "converted", "formatting"})
"""Words of the error that says so."""
MAX_LENGTH = 60


def filled(node: Node, place: Place) -> Iterator[Proposal]:
    """`f"{n} bytes"` → `f"{int(n)} bytes"`, here and wherever the statement fills in the same value."""
    value = node.get("expression")
    if value is None or value.kind not in _FILLED or value.end - value.start > MAX_LENGTH:
        return
    same = [
        other
        for part in place.nodes
        if part.kind == "interpolation"
        and (other := part.get("expression")) is not None
        and other.text == value.text
    ]
    for function, weight in WRAPPERS.get(place.kind(value), WRAPPERS[""]):
        if (
            not weight
            or function in {"list", "set", "tuple", "dict", "reversed"}
            or called_name(value) == function
        ):
            continue
        new = f"{function}({value.text})"
        yield put("call.wrap", value, new, weight)
        if len(same) > 1 and same[0].start == value.start:
            edits = tuple((other.start, other.end, new) for other in same)
            yield Proposal("twin.all", weight, edits, f"{value.text} → {new}, {len(same)} times")


def alone(node: Node, place: Place) -> Iterator[Proposal]:
    """`"…%s" % key` → `"…%s" % (key,)`: a tuple in its place would be taken for several values."""
    token, text, value = node.get("operator"), node.get("left"), node.get("right")
    if token is None or text is None or value is None or token.text != "%" or text.kind != "string":
        return
    if value.kind in _VALUE:
        strength = 1.0 if place.hints.message >= _UNTUPLED else 0.2
        yield put("call.replaced", value, f"({value.text},)", strength)


def bounded(node: Node, place: Place) -> Iterator[Proposal]:
    """`"…" % (n - 1)` → `"…" % max(0, n - 1)`."""
    token, value = node.get("operator"), node.get("right")
    if token is None or value is None or token.text != "%" or value.kind != "parenthesized_expression":
        return
    inner = value.parts[0] if value.parts else None
    if inner is not None and inner.kind == "binary_operator" and place.numeric(inner):
        for low in ("0", "1"):
            yield put("call.clamp", value, f"max({low}, {inner.text})", 0.5 if low == "0" else 0.3)


TABLE: Table = {"interpolation": (filled,), "binary_operator": (alone, bounded)}
