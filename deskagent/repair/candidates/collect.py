"""What a collection is built from: kinds of comprehension, elements left as they are."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, called_name, put
from deskagent.repair.nodes import Node

BRACKETS = {
    "list_comprehension": ("[", "]"),
    "set_comprehension": ("{", "}"),
    "generator_expression": ("(", ")"),
}
_TAKES_ONE = frozenset(
    {"sorted", "list", "tuple", "sum", "len", "join", "any", "all", "max", "min", "Counter", "deque"}
)
_SPLITS = frozenset({"split", "rsplit", "splitlines", "readlines", "findall", "groups", "partition"})
# what each element is often meant to become; `{}` is the element
TREATED = (("int({})", 1.0), ("{}.strip()", 0.9), ("float({})", 0.5), ("{}.lower()", 0.6), ("str({})", 0.5))


def kinds(node: Node, place: Place) -> Iterator[Proposal]:
    """`[f(x) for x in xs]` → `{f(x) for x in xs}` and the other brackets; `sorted(f(x) for x in xs)` →
    `sorted({f(x) for x in xs})`."""
    inner = node.text[1:-1]
    bracket = node.parent
    bare = bracket is not None and bracket.kind == "call"  # the call's own parentheses are the generator's
    doubled = _twice(place)
    for kind, (opening, closing) in BRACKETS.items():
        if kind == node.kind:
            continue
        text = f"{opening}{inner}{closing}"
        weight = 0.5
        if kind == "set_comprehension":
            weight = 1.0 if doubled or "set" in place.hints.conversions else 0.5
        elif kind == "list_comprehension":
            weight = 1.0 if "list" in place.hints.conversions else 0.4
        yield put("comprehension.kind", node, f"({text})" if bare else text, weight)
    if node.kind != "set_comprehension":
        weight = 1.0 if doubled else 0.3
        plain = f"[{inner}]" if node.kind == "list_comprehension" else inner
        text = f"dict.fromkeys({plain})"
        if bare and bracket is not None and called_name(bracket) in {"list", "tuple"}:
            yield put("comprehension.kind", node, f"({text})", weight)
        elif not bare:
            yield put("comprehension.kind", node, f"list({text})", weight)


def _twice(place: Place) -> bool:
    """Whether something came twice that was expected once."""
    return any(
        isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)) and len(actual) > len(expected)
        and all(part in expected for part in actual)
        for expected, actual in place.hints.examples.pairs
    )  # fmt: skip


def each(node: Node, place: Place) -> Iterator[Proposal]:
    """`(part for part in text.split(","))` → `(int(part) for …)`: elements that nothing is done to."""
    body, clause = node.get("body"), next((c for c in node.parts if c.kind == "for_in_clause"), None)
    left, right = (clause.get("left"), clause.get("right")) if clause is not None else (None, None)
    if body is None or left is None or right is None or body.kind != "identifier":
        return
    untouched = body.text == left.text and not any(c.kind == "if_clause" for c in node.parts)
    split = right.kind == "call" and called_name(right) in _SPLITS
    scale = 1.0 if untouched and split else 0.6 if untouched or split else 0.3
    for form, weight in TREATED:
        yield put("comprehension.each", body, form.format(body.text), scale * weight)


def mapped(node: Node, place: Place) -> Iterator[Proposal]:
    """`tuple(text.split("."))` → `tuple(map(int, text.split(".")))`, `map(str.strip, …)`."""
    given = arguments(node)
    if called_name(node) not in _TAKES_ONE or len(given) != 1 or given[0].kind != "call":
        return
    if called_name(given[0]) in _SPLITS:
        for function, weight in (("int", 0.7), ("str.strip", 0.7), ("float", 0.3), ("str.lower", 0.4)):
            yield put("comprehension.each", given[0], f"map({function}, {given[0].text})", weight)


def once(node: Node, place: Place) -> Iterator[Proposal]:
    """`sorted(xs)` → `sorted(set(xs))`, `list(xs)` → `list(dict.fromkeys(xs))`, where things came twice."""
    given = arguments(node)
    name = called_name(node)
    if not given or given[0].kind in {"keyword_argument", "generator_expression", "list_splat"}:
        return
    weight = 1.0 if _twice(place) else 0.15
    if name in {"sorted", "len", "sum", "join", "list", "tuple"}:
        yield put("comprehension.kind", given[0], f"set({given[0].text})", weight)
    if name == "set" and len(given) == 1:
        yield put("comprehension.kind", node, f"dict.fromkeys({given[0].text})", 0.7)
    if name in {"list", "tuple", "join", "sorted"}:
        yield put("comprehension.kind", given[0], f"dict.fromkeys({given[0].text})", weight)


TABLE: Table = {
    "list_comprehension": (kinds, each),
    "set_comprehension": (kinds, each),
    "generator_expression": (kinds, each),
    "call": (mapped, once),
}
