"""Calls: arguments exchanged, dropped, added; a call taken off or put around; calls that chain."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, exchange, shorten, similarity
from deskagent.repair.languages.fit import is_value, level, put
from deskagent.repair.languages.place import Place
from deskagent.repair.nodes import Node


def arguments(call: Node) -> list[Node]:
    given = call.get("arguments")
    return given.parts if given is not None else []


def order(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(a, b)` → `f(b, a)`; for three arguments each pair, neighbours first."""
    given = arguments(node)
    for i in range(len(given)):
        for j in range(i + 1, min(len(given), i + 4)):
            if given[i].text != given[j].text and given[i].end - given[i].start < 200:
                yield exchange("call.order", given[i], given[j], 1.0 if j == i + 1 else 0.5)


def fewer(node: Node, place: Place) -> Iterator[Proposal]:
    """One argument less."""
    given = arguments(node)
    for index, part in enumerate(given):
        weight = 0.6 if index == len(given) - 1 else 0.3
        start = given[index - 1].end if index else part.start
        end = part.end if index or len(given) == 1 else given[1].start
        yield Proposal("call.fewer", weight, ((start, end, ""),), f"drop argument {shorten(part.text)}")


def more(node: Node, place: Place) -> Iterator[Proposal]:
    """One argument more: a variable, as a parameter of the called function is named or as a like call has it."""
    bracket = node.get("arguments")
    if bracket is None or node.end - node.start > 400:
        return
    given = arguments(node)
    held = {part.text for part in given}
    called = node.get("function") or node.get("constructor")
    parameters = _parameters(place, called.text.rpartition(".")[2] if called is not None else "")
    offered: dict[str, float] = {}
    lacking = parameters is not None and len(parameters) > len(given)
    for name in place.own_variables:
        if name.text not in held:
            like = max((similarity(name.text, p) for p in (parameters or [])[len(given) :]), default=0.0)
            offered[name.text] = (0.5 + 0.5 * like) if lacking else 0.15
    if parameters is None or lacking:
        for text, weight in (
            ("1", 0.25),
            ("0", 0.25),
            ("true", 0.2),
            ("false", 0.15),
            ("10", 0.2),
            ("-1", 0.15),
        ):
            offered.setdefault(text, weight)
        for other in place.tree.of(node.kind):
            if (
                (
                    other.kind == node.kind
                    and other is not node
                    and called is not None
                    and (f := other.get("function")) is not None
                )
                and f.text.rpartition(".")[2] == called.text.rpartition(".")[2]
                and len(arguments(other)) > len(given)
            ):
                offered[arguments(other)[len(given)].text[:60]] = 0.8
    at = given[-1].end if given else bracket.start + 1
    for text, weight in offered.items():
        yield Proposal(
            "call.more", weight, ((at, at, f", {text}" if given else text),), f"pass {shorten(text)}"
        )


def _parameters(place: Place, name: str) -> list[str] | None:
    """Names of the parameters of the file's function called `name`, None where the file has none."""
    for node in place.tree.of(*place.grammar.functions):
        if node.kind in place.grammar.functions and place.tree.name_of(node) == name:
            holder = node.get("parameters")
            return [n.text for n in holder.walk() if n.kind == "identifier"] if holder is not None else []
    return None


def unwrap(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(x)` → `x`, `x.trim()` → `x`."""
    called, given = node.get("function"), arguments(node)
    if called is None:
        return
    for part in given[:2]:
        if is_value(node, place) and part.kind not in {
            "spread_element",
            "arrow_function",
            "function_expression",
            "func_literal",
        }:
            yield put(
                "call.unwrap",
                node,
                part.text,
                0.7 if len(given) == 1 else 0.3,
                place,
                level(part, place.grammar),
            )
    kind, object_field, _ = place.grammar.member
    if called.kind == kind and (held := called.get(object_field)) is not None and held.kind != "this":
        yield put(
            "call.unwrap", node, held.text, 0.6 if len(given) == 0 else 0.4, place, level(held, place.grammar)
        )


def wrap(node: Node, place: Place) -> Iterator[Proposal]:
    """A value passed through a function of the file that the function or its neighbours call with one argument."""
    if not is_value(node, place):
        return
    for text, weight in _wrappers(place):
        if not node.text.startswith(text):
            yield put("call.wrap", node, f"{text}({node.text})", weight, place)


def _wrappers(place: Place) -> list[tuple[str, float]]:
    known: dict[str, float] = {}
    for other in place.tree.of("call_expression"):
        if other.kind == "call_expression" and len(arguments(other)) == 1:
            called = other.get("function")
            if called is not None and called.end - called.start < 30 and called.kind == "identifier":
                known[called.text] = max(known.get(called.text, 0.0), 0.5)
    for name in place.names.values():
        if name.origin == "definition":
            known.setdefault(name.text, 0.4)
    for text, weight in place.grammar.words.get("(", ()):
        known.setdefault(text, weight)
    return list(known.items())[:25]


def method(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `x.trim()`: what is often forgotten, and what the file does to the same variable elsewhere."""
    if not is_value(node, place):
        return
    offered = dict(place.grammar.members.get("()", ()))
    for text, weight in offered.items():
        if not node.text.endswith(text):
            yield put("call.method", node, f"{node.text}{text}", weight, place)


def chain(node: Node, place: Place) -> Iterator[Proposal]:
    """`xs.map(f).filter(g)` → `xs.filter(g).map(f)`."""
    kind, object_field, _name_field = place.grammar.member
    outer = node.get("function")
    inner = outer.get(object_field) if outer is not None and outer.kind == kind else None
    below = inner.get("function") if inner is not None and inner.kind == "call_expression" else None
    if outer is None or inner is None or below is None or below.kind != kind:
        return
    source = node.syntax.source.utf8
    base = below.get(object_field)
    if base is None:
        return
    first = source[base.end : inner.end].decode("utf-8", "replace")
    second = source[inner.end : node.end].decode("utf-8", "replace")
    yield Proposal(
        "call.order",
        0.5,
        ((base.end, node.end, second + first),),
        f"swap {shorten(first)} and {shorten(second)}",
    )
