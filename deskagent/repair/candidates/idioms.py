"""Idioms for what is not there yet or may be nothing: `setdefault`, `pop(k, None)`, `or {}`, `int(x) if x else 0`."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import (
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    put,
)
from deskagent.repair.candidates.blocks import instead
from deskagent.repair.candidates.handed import parameters
from deskagent.repair.candidates.known import owner_of
from deskagent.repair.nodes import Node

# attribute looked up on None → what is there instead
_NOTHING = {
    "{}": frozenset({"get", "items", "keys", "values", "update", "setdefault", "pop", "copy"}),
    "[]": frozenset({"append", "extend", "insert", "sort", "index", "remove"}),
    '""': frozenset({"lower", "upper", "strip", "split", "startswith", "endswith", "replace", "encode", "format",
                     "join", "rstrip", "lstrip", "title", "find", "partition"}),
}  # fmt: skip
_FILLS = {
    "append": "[]",
    "extend": "[]",
    "insert": "[]",
    "add": "set()",
    "update": "{}",
    "items": "{}",
    "get": "{}",
}


def setdefault(node: Node, place: Place) -> Iterator[Proposal]:
    """`d[k].append(x)` → `d.setdefault(k, []).append(x)`; `d[k] += 1` → `d[k] = d.get(k, 0) + 1`."""
    owner, index, parent = node.get("value"), node.get("subscript"), node.parent
    if "KeyError" not in place.hints.exceptions or owner is None or index is None or parent is None:
        return
    method = parent.get("attribute") if parent.kind == "attribute" else None
    empty = _FILLS.get(method.text, "") if method is not None else "{}" if parent.kind == "subscript" else ""
    if empty and node.field in {"object", "value"}:
        yield put("call.get", node, f"{owner.text}.setdefault({index.text}, {empty})", 1.0)
    right, sign = parent.get("right"), parent.get("operator")
    if (
        parent.kind == "augmented_assignment"
        and node.field == "left"
        and right is not None
        and sign is not None
    ):
        kind = place.kind(right)
        start = {"list": "[]", "str": '""', "tuple": "()", "float": "0.0"}.get(kind, "0")
        new = f"{node.text} = {owner.text}.get({index.text}, {start}) {sign.text[:-1]} {right.text}"
        yield put("call.get", parent, new, 1.0, 0)


def gone(node: Node, place: Place) -> Iterator[Proposal]:
    """`del d[k]` → `d.pop(k, None)`."""
    entry = node.parts[0] if len(node.parts) == 1 else None
    owner, index = (entry.get("value"), entry.get("subscript")) if entry is not None else (None, None)
    if owner is not None and index is not None and index.kind != "slice":
        weight = 1.0 if "KeyError" in place.hints.exceptions else 0.2
        edit = instead(node, f"{owner.text}.pop({index.text}, None)")
        yield Proposal("call.get", weight, (edit,), f"{owner.text}.pop({index.text}, None)")


def nothing(node: Node, place: Place) -> Iterator[Proposal]:
    """`d.get(k)` → `d.get(k) or {}`, `d.get(k, {})`, by what is then looked up on None."""
    if not place.hints.none_attributes or called_name(node) not in {"get", "pop", "group", "find"}:
        parent = node.parent
        if not place.hints.none_attributes or parent is None or parent.kind != "assignment":
            return
    given = arguments(node)
    for text, looked in _NOTHING.items():
        if not looked & place.hints.none_attributes:
            continue
        if called_name(node) in {"get", "pop"} and len(given) == 1:
            edit = (given[0].end, given[0].end, f", {text}")
            yield Proposal("absent.fallback", 0.9, (edit,), f"{node.text[:40]}: {text} where there is none")
        if node.parent is not None and node.field == "object":
            yield put("absent.fallback", node, f"({node.text} or {text})", 0.9)
        else:
            yield put("absent.fallback", node, f"{node.text} or {text}", 1.0, PRECEDENCE["or"])


def numbered(node: Node, place: Place) -> Iterator[Proposal]:
    """`int(x)` → `int(x) if x else 0`, where an empty text or None came."""
    given = arguments(node)
    if called_name(node) not in {"int", "float", "len", "Decimal"} or len(given) != 1:
        return
    errors = "\n".join(place.hints.examples.errors)
    if "NoneType" not in errors and "invalid literal" not in errors and "could not convert" not in errors:
        return
    for index, text in enumerate(("0", "None", "1")):
        new = f"{node.text} if {given[0].text} else {text}"
        yield put("absent.fallback", node, new, 0.8**index, PRECEDENCE["conditional_expression"])
    yield put("absent.fallback", given[0], f"{given[0].text} or 0", 0.7)


def starred(node: Node, place: Place) -> Iterator[Proposal]:
    """`a, b = f()` → `a, *b = f()`, `a, b, *_ = f()`, where more or fewer values came."""
    errors = "\n".join(place.hints.examples.errors)
    if "values to unpack" not in errors or any(part.kind == "list_splat_pattern" for part in node.parts):
        return
    last = node.parts[-1]
    yield Proposal("clause.star", 1.0, ((last.start, last.start, "*"),), f"*{last.text}")
    if "too many" in errors:
        yield Proposal("clause.star", 0.9, ((last.end, last.end, ", *_"),), "the rest is left out")
    for part in node.parts[:-1]:
        yield Proposal("clause.star", 0.4, ((part.start, part.start, "*"),), f"*{part.text}")


def called(node: Node, place: Place) -> Iterator[Proposal]:
    """`self.default` → `self.default() if callable(self.default) else self.default`, where a function or class came."""
    shown = " ".join(sorted(place.hints.literals)) + "\n".join(place.hints.examples.errors) + place.hints.said
    text = f"{shown} {' '.join(sorted(place.hints.message))}"
    if node.kind not in {"attribute", "identifier"} or node.parent is None or node.field == "function":
        return
    if node.parent.kind not in {"return_statement", "assignment", "argument_list"} or node.field == "left":
        return
    known = place.names.get(node.text)
    if known is not None and (known.origin not in {"parameter", "local"} or known.called):
        return
    asked = any(sign in text for sign in ("function", "callable", "lambda", "class", "method"))
    new = f"{node.text}() if callable({node.text}) else {node.text}"
    yield put("call.callable", node, new, 0.7 if asked else 0.1, 0)


def given(node: Node, place: Place) -> Iterator[Proposal]:
    """A parameter that is None by default is put in the place of a standing value: `x` →
    `x if x is not None else self.x`."""
    value, function = node.get("right"), place.function
    if value is None or function is None or value.kind != "identifier":
        return
    defaults = parameters(function)
    if value.text not in defaults or defaults[value.text] is not None:
        return
    name = value.text
    owner = owner_of(function)
    for index, other in enumerate(_standing(name, owner, place)):
        for form, share in (("{0} if {0} is not None else {1}", 1.0), ("{0} or {1}", 0.8),
                            ("{1} if {0} is None else {0}", 0.8)):  # fmt: skip
            yield put("absent.given", value, form.format(name, other), share * 0.7**index, 0)


def _standing(name: str, owner: Node | None, place: Place) -> list[str]:
    """Values of the class or the module that a parameter is named after."""
    found = []
    for part in owner.walk() if owner is not None else ():
        left = part.get("left") if part.kind == "assignment" else None
        if (
            left is not None
            and left.kind == "identifier"
            and left.text.lower().removeprefix("default_") == name
        ):
            found.append(f"self.{left.text}")
    names = [n.text for n in place.names.values() if n.origin in {"module", "import", "definition"}]
    plain = [text for text in names if text.lower().replace("default_", "").strip("_") == name]
    return list(dict.fromkeys([*found, *plain]))[:3]


TABLE: Table = {
    "subscript": (setdefault,), "delete_statement": (gone,), "call": (nothing, numbered),
    "pattern_list": (starred,), "attribute": (called,), "identifier": (called,), "assignment": (given,),
}  # fmt: skip
