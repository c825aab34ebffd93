"""Conversions that the failing examples speak for: `x` → `x.decode()` where bytes came and text was expected."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import (
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    is_value,
    precedence,
    put,
    required,
    wrapped,
)
from deskagent.repair.nodes import Node
from deskagent.repair.scope import COLLECTIONS, NUMBERS

_VALUES = (
    "identifier", "call", "attribute", "subscript", "binary_operator", "list", "list_comprehension",
    "set_comprehension", "generator_expression", "dictionary_comprehension", "string", "tuple", "dictionary",
    "conditional_expression", "integer",
)  # fmt: skip
_STRONG = frozenset({
    "return_statement", "assignment", "for_statement", "for_in_clause", "comparison_operator", "yield", "argument_list",
    "pair", "subscript", "binary_operator", "list_comprehension", "augmented_assignment", "generator_expression",
    "set_comprehension", "interpolation", "keyword_argument", "attribute",
    "expression_list", "tuple", "list",
})  # fmt: skip
# conversion → kinds of value that it makes no sense for
_NEVER = {
    "list": NUMBERS | {"list", "bool"}, "tuple": NUMBERS | {"tuple", "bool"}, "set": NUMBERS | {"set", "bool"},
    "sorted": NUMBERS | {"bool"}, "reversed": NUMBERS | {"set", "dict"}, "str": frozenset({"str"}), "len": NUMBERS,
    "int": frozenset({"int", "list", "dict", "set", "tuple"}),
    "float": frozenset({"float", "list", "dict", "set", "tuple"}),
    "abs": COLLECTIONS, "round": COLLECTIONS | {"int"}, "sum": NUMBERS | {"str"}, "dict": NUMBERS | {"dict", "str"},
    "frozenset": NUMBERS | {"bool"}, "bool": frozenset({"bool"}),
}  # fmt: skip
_NO_TEXT = NUMBERS | {"list", "dict", "set", "tuple", "bool", "none", "iter"}
_SPECIAL = {
    "list(dict.fromkeys())": "list(dict.fromkeys({}))",
    "sorted(set())": "sorted(set({}))",
    "round(2)": "round({}, 2)",
    "round(1)": "round({}, 1)",
    "Path": "Path({})",
    "join": '"".join({})',
    "any": "any({})",
    "all": "all({})",
}


def convert(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `int(x)`, `x.strip()`, `await x`, where the examples tell so."""
    wanted = place.hints.conversions
    parent = node.parent
    if (
        not wanted
        or parent is None
        or not is_value(node)
        or parent.kind not in _STRONG
        or node.end - node.start > 200
    ):
        return
    if (
        parent.kind == "attribute"
        and node.kind in {"identifier", "attribute"}
        and node.text in {"self", "cls"}
    ):
        return
    named = place.names_at(node).get(node.text) if node.kind == "identifier" else None
    if named is not None and named.origin in {"definition", "import"}:
        return
    kind = place.kind(node)
    outer = parent.kind in {"return_statement", "assignment", "yield"}
    for name, strength in wanted.items():
        if strength <= 0 or name.startswith("-") or kind in _NEVER.get(name, ()):
            continue
        weight = strength * (1.0 if outer else 0.6) * (0.6 if node.kind in {"string", "integer"} else 1.0)
        if name == "await":
            if node.kind == "call" and parent.kind != "await":
                yield put("call.told", node, f"await {node.text}", weight, PRECEDENCE["await"])
        elif name.startswith((".", "[")):
            if kind not in _NO_TEXT or name in {".items()", ".copy()", "[::-1]"}:
                yield put("call.told", node, wrapped(node, 14) + name, weight)
        elif called_name(node) != name and not (parent.kind == "argument_list" and _calls(parent, name)):
            inner = node.text[1:-1] if node.kind == "generator_expression" and "(" not in name else node.text
            yield put("call.told", node, _SPECIAL.get(name, name + "({})").replace("{}", inner), weight)


def _calls(bracket: Node, name: str) -> bool:
    return bracket.parent is not None and called_name(bracket.parent) == name


def undo(node: Node, place: Place) -> Iterator[Proposal]:
    """`int(x)` → `x`, `x.lower()` → `x`, where what was expected is what would be there without it."""
    function, given = node.get("function"), arguments(node)
    if function is None:
        return
    if function.kind == "attribute":
        owner, attribute = function.get("object"), function.get("attribute")
        strength = 0.0
        if attribute is not None:
            strength = place.hints.conversions.get(f"-.{attribute.text}()", 0.0)
        if strength > 0 and owner is not None:
            yield put("call.untold", node, owner.text, strength, precedence(owner))
    elif len(given) == 1 and given[0].kind != "keyword_argument":
        strength = place.hints.conversions.get(f"-{function.text}", 0.0)
        if strength > 0:
            yield put("call.untold", node, given[0].text, strength, precedence(given[0]))


def undo_await(node: Node, place: Place) -> Iterator[Proposal]:
    """`await f()` → `f()`, where what is awaited can't be."""
    if place.hints.conversions.get("-await", 0.0) > 0 and node.parts:
        yield put("call.untold", node, node.parts[0].text, 0.5, required(node))


def asynchronous(node: Node, place: Place) -> Iterator[Proposal]:
    """`with x:` → `async with x:`, `for` → `async for`, in a coroutine."""
    function = place.function
    if function is None or not any(child.kind == "async" for child in function.children):
        return
    if any(child.kind == "async" for child in node.children):
        return
    named = any(
        word in error
        for error in place.hints.examples.errors
        for word in ("async", "__enter__", "context manager")
    )
    weight = 1.0 if named else 0.3
    yield Proposal("call.await", weight, ((node.start, node.start, "async "),), f"async {node.text[:30]}")


TABLE: Table = {
    **{kind: (convert,) for kind in _VALUES if kind != "call"},
    "call": (convert, undo),
    "await": (undo_await,),
    "with_statement": (asynchronous,),
    "for_statement": (asynchronous,),
    "for_in_clause": (asynchronous,),
}
