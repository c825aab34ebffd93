"""What a function gives back: another local, another form, a missing `return`, `yield` and `yield from`."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import PRECEDENCE, Place, Proposal, Table, put, replace
from deskagent.repair.candidates.blocks import after
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS
from deskagent.repair.syntax import block

_TRUTH = frozenset({"true", "false"})
_CALLS = frozenset({"call", "await", "comparison_operator", "boolean_operator", "binary_operator", "identifier",
                    "attribute", "subscript", "list_comprehension"})  # fmt: skip


def truth(node: Node, place: Place) -> Iterator[Proposal]:
    """`return True` → `return not x`, `x`, `x == start value`, a comparison of the function."""
    value = node.parts[0] if node.parts else None
    if value is None or value.kind not in _TRUTH:
        return
    compared = PRECEDENCE["comparison_operator"]
    for name in place.own_variables:
        local = 1.0 if name.origin == "local" else 0.5
        if name.kinds & NUMBERS:
            start = name.initial if name.initial.lstrip("-").isdigit() else "0"
            yield put("return.truth", value, f"{name.text} == {start}", local, compared)
            yield put("return.truth", value, f"{name.text} != {start}", 0.4 * local, compared)
            yield put("return.truth", value, f"{name.text} > 0", 0.3 * local, compared)
        elif "iter" not in name.kinds or name.origin == "local":
            yield put("return.truth", value, f"not {name.text}", 0.6 * local, PRECEDENCE["not_operator"])
            yield put("return.truth", value, name.text, 0.4 * local)
            yield put("return.truth", value, f"bool({name.text})", 0.3 * local)
    for other in place.expressions("comparison_operator"):
        yield put("return.truth", value, other.text, 0.2, compared)


def value(node: Node, place: Place) -> Iterator[Proposal]:
    """`return x` → another local; `return` → `return x`."""
    parts = node.parts
    locals_ = [name for name in place.own_variables if name.origin in {"local", "parameter"}]
    if not parts:
        for name in locals_:
            yield replace("return.value", node, node, f"return {name.text}", 0.7)
        for text in ("None", "False", "True", "[]", "0", "''"):
            yield replace("return.value", node, node, f"return {text}", 0.3)
        return
    old = parts[0]
    if old.kind == "identifier":
        return  # `name.variable`
    for name in locals_:
        if name.text != old.text:
            empty = old.kind in {"list", "none", "integer", "dictionary", "string", "false", "true"}
            yield put("return.value", old, name.text, 0.5 if empty else 0.25)
    if old.kind in {"none", "list", "integer", "dictionary", "string", "tuple"} and old.end - old.start < 8:
        for text, weight in (
            ("None", 0.5),
            ("[]", 0.4),
            ("0", 0.3),
            ("False", 0.3),
            ("''", 0.3),
            ("{}", 0.2),
            ("True", 0.2),
        ):
            if text != old.text:
                yield put("return.value", old, text, weight)


def at_the_end(node: Node, place: Place) -> Iterator[Proposal]:
    """The last statement of a function that gives nothing back gets a `return` after it."""
    function = place.function
    body = block(function) if function is not None else None
    if (
        body is None
        or not body.parts
        or body.parts[-1] is not node
        or node.kind in {"return_statement", "raise_statement"}
    ):
        return
    if any(part.kind == "return_statement" and part.parts for part in place.scope_nodes) or _generator(place):
        return
    offered = {"self": 1.0} if "self" in place.names else {}
    offered |= {
        name.text: 0.9 if name.origin == "local" else 0.5
        for name in place.own_variables
        if name.origin in {"local", "parameter"}
    }
    for text, weight in offered.items():
        made = after("return.missing", node, f"return {text}", weight)
        if made is not None:
            yield made


def missing(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(x)` alone → `return f(x)`; `return f(x)` → `yield`, `yield from`, or without `return`."""
    function = place.function
    if function is None:
        return
    parts = node.parts
    if node.kind == "expression_statement" and parts and parts[0].kind in _CALLS:
        own = function.get("name")
        recursive = own is not None and f"{own.text}(" in parts[0].text
        yield _before("return.missing", node, "return ", 1.0 if recursive else 0.5)
        if _generator(place):
            yield _before("return.yield", node, "yield from ", 1.0 if recursive else 0.4)
            yield _before("return.yield", node, "yield ", 0.4)
    elif node.kind == "return_statement" and parts:
        keyword = node.children[0]
        generator = _generator(place)
        yield replace("return.yield", keyword, keyword, "yield", 0.6 if generator else 0.15)
        if generator:
            yield replace("return.yield", keyword, keyword, "yield from", 0.4)


def yields(node: Node, place: Place) -> Iterator[Proposal]:
    """`yield x` ↔ `yield from x`, `return x`."""
    words = [child for child in node.children if child.kind in {"yield", "from"}]
    if not words:
        return
    if len(words) == 2:
        yield replace("return.yield", words[0], words[1], "yield", 0.8)
    elif node.parts:
        yield replace("return.yield", words[0], words[0], "yield from", 1.0)
    if node.parts:
        yield replace("return.yield", words[0], words[-1], "return", 0.3)


def _before(operator: str, node: Node, word: str, weight: float) -> Proposal:
    return Proposal(operator, weight, ((node.start, node.start, word),), f"{word.strip()} {node.text[:50]}")


def _generator(place: Place) -> bool:
    return any(node.kind == "yield" and node.named for node in place.scope_nodes)


TABLE: Table = {
    "return_statement": (truth, value, missing),
    "expression_statement": (missing,),
    "statement": (at_the_end,),
    "yield": (yields,),
}
