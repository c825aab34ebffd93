"""A group lost in a loop: what is handed on after the loop is handed on before the group begins anew, too."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import alone, before, dedented, indented, instead
from deskagent.repair.candidates.known import free_names
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import LOOPS, block, siblings


def handed_on(node: Node, place: Place) -> Iterator[Proposal]:
    """`current = []` in a loop after which `if current: found.append(current)` stands → that, before it or around."""
    loop = place.in_loop
    value = node.parts[0] if node.kind == "expression_statement" and node.parts else None
    left = value.get("left") if value is not None and value.kind == "assignment" else None
    if loop is None or left is None or left.kind not in {"identifier", "attribute"} or not alone(node):
        return
    beside = siblings(loop)
    index = next((i for i, part in enumerate(beside) if part is loop), len(beside))
    for other in beside[index + 1 : index + 4]:
        name = left.text
        if other.kind in LOOPS or not (name in other.text and alone(other)):
            continue
        body = block(other) if other.kind == "if_statement" else None
        if other.kind == "if_statement" and body is not None and body.parts:
            condition = other.get("condition")
            if condition is None or name not in free_names(condition) | {condition.text}:
                continue
            inner = "\n".join(dedented(part) for part in body.parts)
            yield from _made(before("statement.group", node, dedented(other), 1.0))
            yield from _made(before("statement.group", node, inner, 0.8))
            lines = f"if {condition.text}:\n{indented(inner, place.syntax.unit)}\n" + indented(
                dedented(node), place.syntax.unit
            )
            note = f"{inner.splitlines()[0][:50]} before {node.text[:40]}"
            yield Proposal("statement.group", 1.0, (instead(node, lines),), note)
        elif (
            other.kind == "expression_statement" and other.parts and other.parts[0].kind in {"call", "yield"}
        ):
            yield from _made(before("statement.group", node, dedented(other), 0.9))
            lines = f"if {name}:\n" + indented(f"{dedented(other)}\n{dedented(node)}", place.syntax.unit)
            yield Proposal(
                "statement.group", 0.8, (instead(node, lines),), f"{other.text[:50]} before {node.text[:40]}"
            )


def _made(proposal: Proposal | None) -> Iterator[Proposal]:
    if proposal is not None:
        yield proposal


TABLE: Table = {"statement": (handed_on,)}
