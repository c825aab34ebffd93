"""State that a line was forgotten for: an attribute left as it was, an entry never kept, a method that nobody calls
here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten, similarity
from deskagent.repair.candidates.blocks import alone, around, instead
from deskagent.repair.candidates.known import (
    EMPTY,
    Callee,
    argument_texts,
    calls_of,
    changed,
    first_values,
    functions,
    methods,
    owner_of,
    used,
)
from deskagent.repair.nodes import Node
from deskagent.repair.scope import role

_FIRST = frozenset({"None", "True", "False", *EMPTY})
_MOST = 12
_ANEW = frozenset(["reset", "clear", "close", "start", "restart", "stop", "begin", "finish", "flush", "init", "new",
                   "rewind", "empty", "end", "cancel", "abort"])  # fmt: skip
"""Methods of such names set things back."""


def forgotten(node: Node, place: Place) -> Iterator[Proposal]:
    """In a method: another attribute of the class gets its first value again, or is emptied; the likelier the more
    alike its name is to one that the method changes."""
    owner, function = owner_of(node), place.function
    if owner is None or function is None or "self" not in place.names or not _touches_self(node):
        return
    name = function.get("name")
    if name is None or name.text == "__init__":
        return
    mine = frozenset(changed(function))
    for attribute, first in first_values(owner).items():
        alike = max((similarity(attribute[5:].strip("_"), m[5:].strip("_")) for m in mine), default=0.0)
        shared = any(
            attribute in method.sets and method.sets & mine and method.name != name.text
            for method in methods(owner)
        )
        weight = 0.25 + 0.4 * alike + (0.3 if shared else 0.0)
        if name.text.strip("_").partition("_")[0] in _ANEW:
            weight += 0.35
        if attribute in mine:
            weight *= 0.5
        if first in EMPTY:
            yield from around("statement.forgotten", node, f"{attribute}.clear()", min(1.0, weight))
        yield from around(
            "statement.forgotten",
            node,
            f"{attribute} = {first}",
            min(1.0, weight) * (0.4 if first in EMPTY else 0.8),
        )


def _touches_self(node: Node) -> bool:
    return bool(used(node)) or node.kind in {"function_definition", "return_statement"}


def called(node: Node, place: Place) -> Iterator[Proposal]:
    """A method of the class (or a function of the file) that gives nothing back is called here too; or instead of
    an assignment to what it sets."""
    function = place.function
    if function is None or not alone(node):
        return
    owner = owner_of(node) if "self" in place.names else None
    offered = [*(methods(owner) if owner is not None else ()), *functions(place.syntax)]
    target = _target(node)
    for callee in offered:
        if callee.node is function or callee.gives or callee.name == "main":
            continue
        weight = _wanted(callee, place, function)
        for text, fit in islice(argument_texts(callee, place), _MOST):
            line = f"{callee.call}({text})"
            if line == node.text:
                continue
            if target and target in callee.sets:
                note = f"{shorten(node.text)} → {shorten(line)}"
                yield Proposal(
                    "statement.call_for", min(1.0, weight + 0.4) * fit, (instead(node, line),), note
                )
            yield from around("statement.call", node, line, weight * fit)


def _target(node: Node) -> str:
    value = node.parts[0] if node.kind == "expression_statement" and node.parts else None
    left = (
        value.get("left")
        if value is not None and value.kind in {"assignment", "augmented_assignment"}
        else None
    )
    return left.text if left is not None and left.kind == "attribute" else ""


def _wanted(callee: Callee, place: Place, function: Node) -> float:
    """How likely a call of `callee` was left out here."""
    words = place.hints.request | place.hints.message
    calls = calls_of(place.syntax, callee.name)
    weight = 0.35
    if not calls:
        weight = 0.6 if callee.name.startswith("_") else 0.4
    if callee.name in words or set(callee.name.strip("_").split("_")) & {w.lower() for w in words}:
        weight += 0.3
    if callee.sets & used(function):
        weight += 0.2
    if any(call.inside(function) for call in calls):
        weight *= 0.6
    return min(1.0, weight)


def opposite(node: Node, place: Place) -> Iterator[Proposal]:
    """What another method adds to an attribute is taken off it here: `self.count += 1` ↔ `self.count -= 1`."""
    owner, function = owner_of(node), place.function
    if owner is None or function is None or "self" not in place.names or not alone(node):
        return
    mine = used(function)
    for method in methods(owner):
        if method.node is function or not method.sets & mine:
            continue
        for part in method.node.walk():
            token = part.get("operator") if part.kind == "augmented_assignment" else None
            left, right = part.get("left"), part.get("right")
            if token is None or left is None or right is None or token.text not in {"+=", "-="}:
                continue
            if left.text in frozenset(changed(function)) or not left.text.startswith("self."):
                continue
            names = {n.text for n in right.walk() if n.kind == "identifier" and role(n) == "read"}
            if names <= place.names.keys() and right.end - right.start < 40:
                for sign, weight in (("-=" if token.text == "+=" else "+=", 0.8), (token.text, 0.5)):
                    yield from around("statement.opposite", node, f"{left.text} {sign} {right.text}", weight)


def remembered(node: Node, place: Place) -> Iterator[Proposal]:
    """`d[k]` is read here and nowhere in the function given a value: `d[k] = v` for a local `v`."""
    function = place.function
    if function is None or not alone(node) or node is function:
        return
    stored = {n.text for n in place.scope_nodes if n.kind == "subscript" and n.field == "left"}
    returned = (
        {n.text for n in place.nodes if n.kind == "identifier"} if node.kind == "return_statement" else set()
    )
    for entry in place.expressions("subscript"):
        owner, index = entry.get("value"), entry.get("subscript")
        if (
            entry.text in stored
            or owner is None
            or index is None
            or owner.kind not in {"identifier", "attribute"}
        ):
            continue
        if index.kind not in {"identifier", "attribute", "tuple"}:
            continue
        asked = any(
            n.kind == "comparison_operator" and n.text.endswith(f" in {owner.text}")
            for n in place.scope_nodes
        )
        for name in place.own_variables:
            if name.origin != "local" or name.text in {owner.text, index.text}:
                continue
            weight = (1.0 if asked else 0.3) * (1.0 if name.text in returned else 0.5)
            yield from around("statement.remember", node, f"{entry.text} = {name.text}", weight)


TABLE: Table = {"statement": (forgotten, called, opposite, remembered)}
