"""A branch that goes on where it should be left: `continue`, `return` or `break` missing at its end."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import ENDS, after, alone
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import COMPOUND, FUNCTIONS, LOOPS, block

_BRANCHES = frozenset({"if_statement", "elif_clause", "except_clause"})
_CLAUSES = frozenset({"elif_clause", "else_clause", "except_clause", "finally_clause"})
_MOST_RETURNS = 4


def leave(node: Node, place: Place) -> Iterator[Proposal]:
    """`if …: x = f(y)` → and `continue`, `return x` or `return`, where more would be run after the branch."""
    function = place.function
    last = _last_of(node)
    if function is None or last is None or last.kind in ENDS or last.kind in COMPOUND or not alone(last):
        return
    in_loop, in_function = _goes_on(last)
    share = 1.0 if last is node else 0.8
    if in_loop:
        yield from _put(last, "continue", share)
    if place.in_loop is not None:
        yield from _put(last, "break", 0.5 * share)
    if not in_function:
        return
    returns = [n for n in place.scope_nodes if n.kind == "return_statement" and n.end - n.start <= 60]
    valued = [n.text for n in returns if n.parts and "\n" not in n.text]
    if not valued:
        yield from _put(last, "return", 0.9 * share)
        return
    value = last.parts[0] if last.parts else None
    left = value.get("left") if value is not None and value.kind.endswith("assignment") else None
    own = left.text if left is not None and left.kind in {"identifier", "attribute"} else ""
    if own:
        yield from _put(last, f"return {own}", (1.0 if f"return {own}" in valued else 0.7) * share)
    for text in dict.fromkeys(valued[:_MOST_RETURNS]):
        names = {n for n in place.names if n in text.split()}
        if text != f"return {own}" and all(place.names[n].line <= last.line for n in names):
            yield from _put(last, text, 0.4 * share)


def _put(last: Node, line: str, weight: float) -> Iterator[Proposal]:
    made = after("statement.leave", last, line, weight)
    if made is not None:
        yield made


def _last_of(node: Node) -> Node | None:
    """The last statement of the branch that `node` opens or ends."""
    body = block(node) if node.kind in _BRANCHES else None
    if body is not None:
        return body.parts[-1] if body.parts and body.row > node.row else None
    holder = node.parent.parent if node.parent is not None and node.parent.kind == "block" else None
    ends = holder is not None and node.parent is not None and node.parent.parts[-1] is node
    return node if ends and holder is not None and holder.kind in _BRANCHES else None


def _goes_on(last: Node) -> tuple[bool, bool]:
    """Whether anything is run after a statement within its loop, within its function."""
    node, in_loop, in_function, looped = last, False, False, False
    while node.parent is not None and node.kind not in FUNCTIONS:
        parent = node.parent
        if parent.kind == "block":
            later = any(part.start > node.start for part in parent.parts)
            in_function |= later
            in_loop |= later and not looped
        if parent.kind in LOOPS and node.kind == "block":
            looped = in_function = True
        node = parent.parent if parent.kind in _CLAUSES and parent.parent is not None else parent
    return in_loop and looped, in_function


TABLE: Table = {"statement": (leave,)}
