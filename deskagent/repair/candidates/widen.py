"""A test for one value widened to one for several: `==` to `in`, a tuple of beginnings, of types."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put
from deskagent.repair.candidates.shown import Ranked, best, fit, literal, numbers, texts, written
from deskagent.repair.nodes import Node


def widened(node: Node, place: Place) -> Iterator[Proposal]:
    """`x == "a"` → `x in ("a", "b")`; `x in ("a")` → `x in ("a",)`."""
    if len(node.parts) != 2:
        return
    left, right = node.parts
    operator = next((c.kind for c in node.children if not c.named or c.kind in {"not in", "is not"}), "")
    if (
        right.kind == "parenthesized_expression"
        and right.parts[0].kind == "string"
        and operator in {"in", "not in"}
    ):
        yield put("element.widen", right, f"({right.parts[0].text},)", 1.0)
    if operator not in {"==", "!="} or right.kind not in {"string", "integer"}:
        return
    value = literal(right)
    pool = texts(place.hints) if right.kind == "string" else numbers(place.hints)
    verb = "in" if operator == "==" else "not in"
    ranked: Ranked = {
        other: w * (fit(str(other), [str(value)]) if right.kind == "string" else 0.6)
        for other, w in pool.items()
        if other != value
    }
    for new, weight in best(ranked, 8):
        text = f"{left.text} {verb} ({right.text}, {written(right, new)})"
        yield put("element.widen", node, text, weight, 5)


def widened_call(node: Node, place: Place) -> Iterator[Proposal]:
    """`startswith("a")` → `startswith(("a", "b"))`; `isinstance(x, int)` → `isinstance(x, (int, float))`."""
    function, bracket = node.get("function"), node.get("arguments")
    given = bracket.parts if bracket is not None else []
    name = function.text.rpartition(".")[2] if function is not None else ""
    if name in {"startswith", "endswith"} and len(given) == 1 and given[0].kind == "string":
        value = str(literal(given[0]))
        pool = {t: w * fit(str(t), [value]) for t, w in texts(place.hints).items() if t != value}
        for shown in place.hints.examples.given[:6]:  # what the text handed in begins or ends with
            if isinstance(shown, str) and len(shown) > len(value):
                end = shown.lstrip()[: len(value)] if name == "startswith" else shown.rstrip()[-len(value) :]
                if end and end != value:
                    pool[end] = max(0.6 * fit(end, [value]), pool.get(end, 0.0))
        for text, weight in best(pool, 8):
            yield put("element.widen", given[0], f"({given[0].text}, {written(given[0], text)})", weight)
    elif name in {"isinstance", "issubclass"} and len(given) == 2:
        held = given[1].parts if given[1].kind == "tuple" else [given[1]]
        texts_held = [part.text for part in held]
        shown = {type(v).__name__ for v in (*place.hints.examples.given, *place.hints.examples.expected)}
        for kind in (
            "float",
            "tuple",
            "list",
            "set",
            "dict",
            "bytes",
            "str",
            "int",
            "bool",
            "frozenset",
            "bytearray",
        ):
            if kind not in texts_held:
                weight = 1.0 if kind in shown else 0.35
                yield put("element.widen", given[1], f"({', '.join([*texts_held, kind])})", weight)


TABLE: Table = {"comparison_operator": (widened,), "call": (widened_call,)}
