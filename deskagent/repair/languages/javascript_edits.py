"""Edits that JavaScript alone has: optional chaining, promises, copies, sorting, arrow functions, patterns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, shorten
from deskagent.repair.languages.fit import is_value, operator_of, put, wrapped
from deskagent.repair.languages.place import Place
from deskagent.repair.nodes import Node


def optional(node: Node, place: Place) -> Iterator[Proposal]:
    """`a.b` → `a?.b`, and back."""
    _, object_field, name_field = place.grammar.member
    holder, name, chained = node.get(object_field), node.get(name_field), node.get("optional_chain")
    if holder is None or name is None or holder.kind in {"this", "super"} or _is_target(node):
        return
    if chained is not None:
        yield put("call.optional", chained, ".", 0.3, place)
    else:
        dot = next((c for c in node.children if c.text == "."), None)
        if dot is not None:
            yield put("call.optional", dot, "?.", 0.9, place)


def _is_target(node: Node) -> bool:
    parent = node.parent
    return (
        parent is None
        or (node.field == "left" and "assignment" in parent.kind)
        or parent.kind == "update_expression"
    )


def fallback(node: Node, place: Place) -> Iterator[Proposal]:
    """`m.get(k)` → `m.get(k) ?? 0`."""
    if not is_value(node, place) or (
        node.kind == "call_expression"
        and not node.text.partition("(")[0].endswith((".get", ".find", ".shift", ".pop", ".match"))
    ):
        return
    parent = node.parent
    if parent is not None and (operator := operator_of(parent)) is not None and operator.text in {"??", "||"}:
        return
    for text, weight in (
        ("0", 1.0),
        ("[]", 0.7),
        ("''", 0.6),
        ("1", 0.2),
        ("null", 0.5),
        ("{}", 0.3),
        ("false", 0.3),
    ):
        yield put("call.get", node, f"{node.text} ?? {text}", weight, place, place.grammar.precedence["??"])


def awaited(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(x)` → `await f(x)` in an async function, and back."""
    if node.kind == "await_expression":
        if node.parts:
            yield put("call.await", node, node.parts[0].text, 0.2, place)
        return
    parent = node.parent
    function = place.tree.function_of(node)
    if parent is None or parent.kind == "await_expression" or node.field == "function":
        return
    if function is not None and any(c.text == "async" for c in function.children):
        waits = any(
            n.kind == "await_expression"
            and n.parts
            and n.parts[0].text.partition("(")[0] == node.text.partition("(")[0]
            for n in place.tree.of("await_expression")
        )
        promising = (
            waits
            or _is_async(place, node)
            or (parent.kind == "expression_statement" or node.text.startswith("Promise."))
        )
        yield put(
            "call.await",
            node,
            f"await {node.text}",
            1.0 if promising else 0.5,
            place,
            place.grammar.precedence["await_expression"],
        )


def _is_async(place: Place, call: Node) -> bool:
    name = call.text.partition("(")[0].rpartition(".")[2]
    return any(
        node.kind in place.grammar.functions
        and place.tree.name_of(node) == name
        and any(c.text == "async" for c in node.children)
        for node in place.tree.of(*place.grammar.functions)
    )


def sorter(node: Node, place: Place) -> Iterator[Proposal]:
    """`xs.sort()` → `xs.sort((a, b) => a - b)`; a copy is sorted; likewise `reverse`."""
    called = node.get("function")
    if called is None or called.kind != "member_expression":
        return
    name, holder, given = called.get("property"), called.get("object"), node.get("arguments")
    if (
        name is None
        or holder is None
        or given is None
        or name.text not in {"sort", "reverse", "splice", "toSorted"}
    ):
        return
    if name.text in {"sort", "toSorted"} and not given.parts:
        for text, weight in (("(a, b) => a - b", 1.0), ("(a, b) => b - a", 0.8)):
            yield put("call.sorter", given, f"({text})", weight, place)
    if not holder.text.startswith("["):
        yield put("call.copy", holder, f"[...{holder.text}]", 0.8, place)


def arrow(node: Node, place: Place) -> Iterator[Proposal]:
    """`x => ({…})` for `x => {…}`; parameters exchanged; a default of its own for a parameter."""
    parameters = node.get("parameters")
    if parameters is None:
        return
    parts = parameters.parts
    for one, two in itertools.pairwise(parts):
        edits = ((one.start, one.end, two.text), (two.start, two.end, one.text))
        yield Proposal("call.arrow", 0.6, edits, f"swap {shorten(one.text)} and {shorten(two.text)}")
    for part in parts:
        if part.kind in {"identifier", "required_parameter", "shorthand_property_identifier_pattern"}:
            for text, weight in (
                ("0", 0.4),
                ("[]", 0.5),
                ("{}", 0.5),
                ("''", 0.4),
                ("1", 0.3),
                ("false", 0.2),
                ("true", 0.2),
            ):
                yield Proposal(
                    "constant.initial", weight, ((part.end, part.end, f" = {text}"),), f"{part.text} = {text}"
                )
    if (
        node.kind == "arrow_function"
        and (body := node.get("body")) is not None
        and body.kind == "statement_block"
    ):
        inner = place.tree.inner(body)
        if len(inner) == 1 and inner[0].kind == "expression_statement":
            yield Proposal(
                "return.missing",
                0.8,
                ((inner[0].start, inner[0].start, "return "),),
                f"return {shorten(inner[0].text)}",
            )
    first = node.children[0] if node.children else None
    if first is not None and any(n.kind == "await_expression" for n in node.walk()) and first.text != "async":
        yield Proposal("call.await", 1.0, ((node.start, node.start, "async "),), "async")


def initial(node: Node, place: Place) -> Iterator[Proposal]:
    """Another first value; `let` for what is given one elsewhere."""
    value = node.get("value")
    if value is None:
        return
    offered = {
        "number": ("0", "1", "-1", "Infinity", "-Infinity", "null"),
        "array": ("new Set()", "{}", "''"),
        "object": ("[]", "new Map()"),
        "string": ("' '", "[]"),
        "true": (),
        "false": (),
    }
    for text in offered.get(value.kind, ()):
        if text != value.text:
            yield put(
                "constant.initial",
                value,
                text,
                0.4 if text in {"0", "1", "-Infinity", "Infinity"} else 0.15,
                place,
            )
    if value.kind in {"identifier", "member_expression"}:
        for text, weight in (
            (f"[...{value.text}]", 0.5),
            (f"{{ ...{value.text} }}", 0.5),
            ("0", 0.1),
            (f"{value.text}.slice()", 0.2),
        ):
            yield put("call.copy", value, text, weight, place)


def copied(node: Node, place: Place) -> Iterator[Proposal]:
    """What is given back or kept: a copy of it."""
    for value in node.parts[:1]:
        if value.kind in {"identifier", "member_expression"}:
            yield put("call.copy", value, f"[...{value.text}]", 0.6, place)
            yield put("call.copy", value, f"{{ ...{value.text} }}", 0.5, place)


def loop_kind(node: Node, place: Place) -> Iterator[Proposal]:
    """`for (k in xs)` ↔ `for (k of xs)`; keys with values."""
    token = next((c for c in node.children if c.text in {"in", "of"} and not c.named), None)
    right = node.get("right")
    if token is not None:
        yield put("call.range", token, "of" if token.text == "in" else "in", 1.0, place)
    if right is not None and token is not None and token.text == "of":
        binds = wrapped(right, 17, place.grammar)
        for text, weight in (
            (f"{binds}.entries()", 0.3),
            (f"Object.entries({right.text})", 0.4),
            (f"Object.keys({right.text})", 0.3),
            (f"Object.values({right.text})", 0.3),
            (f"[...{right.text}]", 0.3),
            (f"{binds}.slice(1)", 0.3),
        ):
            yield put("call.range", right, text, weight, place)


def pattern(node: Node, place: Place) -> Iterator[Proposal]:
    """A regular expression: its flags, its ends, `*` ↔ `+`, classes widened."""
    body = node.get("pattern")
    flags = node.get("flags")
    held = flags.text if flags is not None else ""
    end = node.end
    for flag, weight in (("g", 1.0), ("i", 1.0), ("m", 0.4), ("u", 0.2), ("s", 0.3)):
        if flag not in held:
            yield Proposal("string.pattern", weight, ((end, end, flag),), f"flag {flag}")
        else:
            at = node.end - len(held) + held.index(flag)
            yield Proposal("string.pattern", 0.4, ((at, at + 1, ""),), f"no flag {flag}")
    if body is None:
        return
    text = body.text
    offered: dict[str, float] = {}
    for old, new, weight in (
        ("*", "+", 0.6),
        ("+", "*", 0.6),
        ("\\d", "\\w", 0.3),
        ("\\w", "[\\w-]", 0.5),
        ("\\w", "[\\w.]", 0.3),
        ("a-z", "a-zA-Z", 0.6),
        ("a-z", "a-z0-9", 0.5),
        ("A-Z", "A-Za-z", 0.4),
        ("0-9", "0-9.", 0.3),
        ("\\s", "\\s+", 0.4),
        (".", "\\.", 0.4),
        ("+", "+?", 0.4),
        ("*", "*?", 0.5),
        ("[^", "[", 0.3),
        ("$", "", 0.3),
        ("^", "", 0.3),
        ("+", "", 0.3),
        ("?", "", 0.3),
        ("\\S", "\\s", 0.3),
    ):
        at = text.find(old)
        while at >= 0:
            if not (at and text[at - 1] == "\\"):
                offered[text[:at] + new + text[at + len(old) :]] = weight
            at = text.find(old, at + 1)
    offered[f"^{text}"] = offered[f"{text}$"] = 0.5
    offered[f"^{text}$"] = 0.4
    offered[f"{text}+"] = 0.4
    for new, weight in offered.items():
        if new and new != text:
            yield Proposal(
                "string.pattern",
                weight,
                ((body.start, body.end, new),),
                f"/{shorten(text)}/ → /{shorten(new)}/",
            )
