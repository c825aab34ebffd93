"""Subscripts and slices: bounds, ends, order of indices."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import PRECEDENCE, Place, Proposal, Table, exchange, put, wrapped
from deskagent.repair.nodes import Node


def indices(node: Node, place: Place) -> Iterator[Proposal]:
    """`m[i, j]` → `m[j, i]`; `m[i][j]` → `m[j][i]`; `x[i]` → `x[-1]`, `x[0]`, `x[-i]`, `x[len(x) - i]`."""
    given = node.all("subscript")
    for i in range(len(given) - 1):
        if given[i].text != given[i + 1].text:
            yield exchange("index.order", given[i], given[i + 1], 1.0)
    value = node.get("value")
    if value is not None and value.kind == "subscript" and len(given) == 1:
        inner = value.get("subscript")
        if inner is not None and inner.text != given[0].text and "slice" not in {inner.kind, given[0].kind}:
            yield exchange("index.order", inner, given[0], 0.8)
    if len(given) != 1 or value is None:
        return
    index = given[0]
    if index.kind == "tuple":
        parts = index.parts
        for i in range(len(parts) - 1):
            if parts[i].text != parts[i + 1].text:
                yield exchange("index.order", parts[i], parts[i + 1], 1.0)
    if index.kind == "identifier":
        for text, weight in (
            ("-1", 0.5),
            ("0", 0.5),
            (f"-{index.text}", 0.2),
            (f":{index.text}", 0.25),
            (f"{index.text}:", 0.25),
        ):
            yield put("index.end", index, text, weight)
    elif index.kind in {"integer", "unary_operator"} and value.kind in {
        "identifier",
        "attribute",
        "call",
        "subscript",
    }:
        if index.text == "0":
            yield put("index.end", index, "-1", 1.0)
        elif index.text == "-1":
            yield put("index.end", index, "0", 1.0)
        yield put("index.end", index, f"{index.text}:", 0.3)
        yield put("index.end", index, f":{index.text}", 0.2)


def bounds(node: Node, place: Place) -> Iterator[Proposal]:
    """`x[a:b]`: a bound dropped, added or moved by one; a step put in or taken out."""
    colons = [child for child in node.children if child.kind == ":"]
    if not colons:
        return
    first = next((p for p in node.parts if p.end <= colons[0].start), None)
    upper_end = colons[1].start if len(colons) > 1 else node.end
    second = next((p for p in node.parts if colons[0].end <= p.start and p.end <= upper_end), None)
    step = next((p for p in node.parts if len(colons) > 1 and p.start >= colons[1].end), None)

    def text(low: str, high: str, by: str | None) -> str:
        return f"{low}:{high}" + (f":{by}" if by is not None else "")

    a, b = first.text if first else "", second.text if second else ""
    by = step.text if step else ("" if len(colons) > 1 else None)
    variants: dict[str, float] = {}
    if first is not None:
        variants[text("", b, by)] = 0.5
        for sign in "+-":
            variants[text(f"{wrapped(first, PRECEDENCE['+'])} {sign} 1", b, by)] = 0.9
        if second is None:
            variants[text("", a, by)] = 0.6
    else:
        variants[text("1", b, by)] = 0.6
        if second is not None:
            variants[text(b, "", by)] = 0.6
        for name in place.own_variables:
            if "int" in name.kinds and name.text != b:
                variants[text(name.text, b, by)] = 0.3
    if second is not None:
        variants.setdefault(text(a, "", by), 0.5)
        for sign in "+-":
            variants[text(a, f"{wrapped(second, PRECEDENCE['+'])} {sign} 1", by)] = 0.9
        if first is not None:
            variants[text(a, f"{a} + {b}", by)] = 0.3
    else:
        variants[text(a, "-1", by)] = 0.5
        for name in place.own_variables:
            if "int" in name.kinds and name.text != a:
                variants[text(a, name.text, by)] = 0.3
    if by is None:
        variants[text(a, b, "-1")] = 0.2
        variants[text(a, b, "2")] = 0.1
    else:
        variants[text(a, b, None)] = 0.4
        variants[text(a, b, "-1")] = 0.3
    old = text(a, b, by)
    for new, weight in variants.items():
        if new != old and new.replace(" - 1 + 1", "") != old:
            yield put("index.bounds", node, new, weight)


TABLE: Table = {"subscript": (indices,), "slice": (bounds,)}
