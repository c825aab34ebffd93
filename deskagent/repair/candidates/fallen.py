"""A function that gives a value on some ways and falls off its end on another: the missing last `return`."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import ENDS, after
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block

_PLAIN = (str, int, float, bool, list, tuple, dict)
_LONGEST, _MOST = 60, 4


def fallen(node: Node, place: Place) -> Iterator[Proposal]:
    """`if a: return x` at the end, and None came → `return y` after it: y as the test wants it, or as it was handed
    in."""
    function = place.function
    body = block(function) if function is not None else None
    if body is None or not body.parts or not _falls(body.parts[-1]):
        return
    last = body.parts[-1]
    if not node.inside(last) and node is not body.parts[max(0, len(body.parts) - 2)]:
        return
    if not any(n.kind == "return_statement" and n.parts for n in place.scope_nodes):
        return
    wanted = [
        expected for expected, came in place.hints.examples.pairs if came is None and expected is not None
    ]
    if not wanted:
        return
    values = [v for v in wanted if isinstance(v, _PLAIN) and len(repr(v)) <= _LONGEST][:_MOST]
    offered = {repr(value): 1.0 for value in values}
    offered |= {name.text: 0.5 for name in place.own_variables if name.origin == "parameter"}
    for text, weight in offered.items():
        made = after("return.fallen", last, f"return {text}", weight * (1.0 if node.inside(last) else 0.8))
        if made is not None:
            yield made


def _falls(last: Node) -> bool:
    """Whether a branch or loop at the end can be left to go on below it."""
    if last.kind in ENDS or last.kind not in {"if_statement", "for_statement", "while_statement"}:
        return False
    return last.kind != "if_statement" or not any(child.kind == "else_clause" for child in last.children)


TABLE: Table = {"statement": (fallen,)}
