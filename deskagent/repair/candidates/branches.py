"""A statement put under a condition; the branches of a condition exchanged, made alike, or given an `else`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten
from deskagent.repair.candidates.blocks import after, alone, around, dedented, indented, instead
from deskagent.repair.candidates.known import first_values, free_names, owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import CLAUSES, LOOPS, Syntax, block, siblings

MAX_WRAPPED = 3
_TAKEN = frozenset({"expression_statement", "return_statement", "raise_statement", "delete_statement"})


@lru_cache(maxsize=32)
def _tests(syntax: Syntax) -> tuple[Node, ...]:
    """The file's short conditions of `if` and `while`."""
    found: dict[str, Node] = {}
    for node in syntax.statements:
        condition = (
            node.get("condition") if node.kind in {"if_statement", "elif_clause", "while_statement"} else None
        )
        if condition is not None and condition.end - condition.start < 60 and "\n" not in condition.text:
            found.setdefault(condition.text, condition)
    return tuple(found.values())[:80]


def wrap(node: Node, place: Place) -> Iterator[Proposal]:
    """The statement only under a condition: one of the file's, or what the statement itself asks for."""
    if place.function is None or node.kind in CLAUSES or node.kind not in _TAKEN | LOOPS or not alone(node):
        return
    value = node.parts[0] if node.parts else None
    if node.kind == "expression_statement" and value is not None and value.kind == "assignment":
        left = value.get("left")
        known = place.names.get(left.text) if left is not None else None
        if known is not None and known.origin == "local" and known.writes < 2:
            return  # the name would be without a value
    groups = [[node]]
    beside = siblings(node)
    at = next((i for i, part in enumerate(beside) if part is node), -1)
    rest = beside[at:] if at >= 0 else []
    if 1 < len(rest) <= MAX_WRAPPED and all(alone(part) for part in rest):
        groups.append(rest)
    for condition, weight in _conditions(node, place):
        for group in groups:
            body = "\n".join(indented(dedented(part), place.syntax.unit) for part in group)
            edits = [instead(part, "") for part in group[1:]]
            lines = f"if {condition}:\n{body}"
            note = f"only if {shorten(condition)}: {shorten(group[0].text)}" + (
                " and what follows" if edits else ""
            )
            share = weight if len(group) == 1 else weight * 0.7
            yield Proposal("statement.wrap", share, (instead(node, lines), *edits), note)


def _conditions(node: Node, place: Place) -> Iterator[tuple[str, float]]:
    inner = free_names(node)
    around_it = {condition.text for n in node.ancestors() if (condition := n.get("condition")) is not None}
    function = place.function
    for condition in _tests(place.syntax):
        needed = free_names(condition)
        if condition.text in around_it or not needed <= place.names.keys():
            continue
        own = function is not None and condition.inside(function)
        shared = needed & inner - {"self"}
        weight = (0.5 if own else 0.25) + (0.3 if shared else 0.0)
        yield condition.text, weight
        yield f"not ({condition.text})" if " " in condition.text else f"not {condition.text}", weight * 0.5
    for name in place.own_variables:
        if name.text in inner and not (name.kinds and name.kinds <= {"int", "float", "call"}):
            yield name.text, 0.6
            yield f"{name.text} is not None", 0.5
    for call in (part for part in node.walk() if part.kind == "call"):
        function, given = call.get("function"), call.get("arguments")
        method, owner = (
            (function.get("attribute"), function.get("object")) if function is not None else (None, None)
        )
        if method is None or owner is None or given is None or len(given.parts) != 1:
            continue
        if method.text in {"append", "add", "insert", "appendleft"}:
            yield f"{given.parts[0].text} not in {owner.text}", 0.9
            yield given.parts[0].text, 0.4
        elif method.text in {"remove", "discard", "pop", "index"}:
            yield f"{given.parts[0].text} in {owner.text}", 0.9
    for part in node.walk():
        if part.kind == "subscript":
            owner, index = part.get("value"), part.get("subscript")
            if (
                owner is not None
                and index is not None
                and index.kind in {"identifier", "attribute", "string"}
            ):
                yield f"{index.text} {'not in' if part.field == 'left' else 'in'} {owner.text}", 0.6


def branches(node: Node, place: Place) -> Iterator[Proposal]:
    """The bodies of `if` and `else` exchanged."""
    body = block(node)
    alternative = next((c for c in node.children if c.kind == "else_clause"), None)
    other = block(alternative) if alternative is not None else None
    if body is None or other is None or any(c.kind == "elif_clause" for c in node.children):
        return
    if body.row == node.row or alternative is None or other.row == alternative.row or body.text == other.text:
        return
    edits = ((body.start, body.end, other.text), (other.start, other.end, body.text))
    yield Proposal("statement.branches", 1.0, edits, "swap the branches")


def symmetric(node: Node, place: Place) -> Iterator[Proposal]:
    """What another branch of the same `if` does with a name is done here too."""
    block_here = node.parent
    holder = block_here.parent if block_here is not None and block_here.kind == "block" else None
    if block_here is None or holder is None or node.kind not in _TAKEN or not alone(node):
        return
    chain = holder if holder.kind == "if_statement" else holder.parent if holder.kind in CLAUSES else None
    if chain is None or chain.kind != "if_statement":
        return
    mine = {part.text for part in block_here.parts}
    for other in (chain, *(c for c in chain.children if c.kind in CLAUSES)):
        there = block(other)
        if there is None or there is block_here:
            continue
        for part in there.parts:
            if (
                part.kind in _TAKEN
                and part.text not in mine
                and "\n" not in part.text
                and len(part.text) < 80
            ):
                last = node is block_here.parts[-1] and part is there.parts[-1]
                yield from around("statement.symmetric", node, part.text, 1.0 if last else 0.5)


def otherwise(node: Node, place: Place) -> Iterator[Proposal]:
    """`if` without `else`: what its body changes gets its first value else."""
    body = block(node)
    if body is None or not alone(node) or any(child.kind in CLAUSES for child in node.children):
        return
    changed = {
        left.text
        for part in body.walk()
        if part.kind in {"assignment", "augmented_assignment"} and (left := part.get("left")) is not None
    }
    owner = owner_of(node)
    first = {n.text: n.initial for n in place.own_variables if n.origin == "local" and n.line < node.line}
    first |= first_values(owner) if owner is not None and "self" in place.names else {}
    for text in sorted(changed):
        if first.get(text) and len(first[text]) < 20:
            lines = f"else:\n{place.syntax.unit}{text} = {first[text]}"
            made = after("statement.otherwise", node, lines, 1.0 if place.in_loop is not None else 0.5)
            if made is not None:
                yield made


TABLE: Table = {"statement": (wrap, symmetric), "if_statement": (branches, otherwise)}
