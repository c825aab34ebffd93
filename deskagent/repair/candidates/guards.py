"""Guards and base cases: a way out put before a statement that can't handle a value."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import alone, before, first_in
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS, Name
from deskagent.repair.syntax import CLAUSES

_COMMON = ("None", "[]", "0", "False", "True", "''", "{}")


def guards(node: Node, place: Place) -> Iterator[Proposal]:
    """Before the statement, or first in the function: `if x is None: return …`, `if not x: …`, `if n <= 0: …`."""
    function = place.function
    if function is None or node.kind in CLAUSES:
        return
    header = node.kind == "function_definition"
    if not header and not alone(node):
        return
    own = {part.text for part in place.nodes if part.kind == "identifier"}
    ways = ways_out(place)
    used = [n for n in place.own_variables if (n.origin == "parameter" if header else n.text in own)]
    for name in used:
        for condition, fit in _conditions(name, place):
            for way, share in ways:
                lines = f"if {condition}:\n{place.syntax.unit}{way}"
                weight = fit * share
                made = (
                    first_in("guard.early", node, lines, weight)
                    if header
                    else before("guard.early", node, lines, weight)
                )
                if made is not None and weight > 0.03:
                    yield made


def _conditions(name: Name, place: Place) -> Iterator[tuple[str, float]]:
    nones = bool(place.hints.none_attributes & name.attributes) or _handed_none(place)
    if name.kinds & NUMBERS:
        yield f"{name.text} == 0", 0.6
        yield f"{name.text} <= 0", 0.6
        yield f"{name.text} < 0", 0.5
        yield f"{name.text} <= 1", 0.3
        return
    if "bool" in name.kinds:
        return
    yield f"{name.text} is None", 1.0 if nones else 0.5
    yield f"not {name.text}", 0.8
    if name.kinds & {"list", "str", "iter"} or name.subscripted:
        yield f"len({name.text}) <= 1", 0.3


def _handed_none(place: Place) -> bool:
    """Whether a failing test hands in None."""
    return any(
        value is None
        for call in place.hints.asked.failing
        for value in (*call.values, *call.keywords.values())
    )


def ways_out(place: Place) -> list[tuple[str, float]]:
    """How to leave: as the function already does, then in common ways."""
    found: dict[str, float] = {}
    if place.in_loop is not None:
        found |= {"continue": 0.8, "break": 0.5}
    for node in place.scope_nodes:
        if node.kind == "return_statement" and node.end - node.start < 40 and "\n" not in node.text:
            found.setdefault(node.text, 0.9)
        elif node.kind == "raise_statement" and node.end - node.start < 100 and "\n" not in node.text:
            found.setdefault(node.text, 0.5)
    generator = any(node.kind == "yield" and node.named for node in place.scope_nodes)
    found.setdefault("return", 0.6 if generator or not any("return" in text for text in found) else 0.2)
    if not generator:
        for text in _COMMON:
            found.setdefault(f"return {text}", 0.45 if text in {"None", "[]", "0", "False"} else 0.25)
        for name in place.own_variables:
            if name.origin == "parameter":
                found.setdefault(f"return {name.text}", 0.3)
    for exception in sorted(place.hints.exceptions):
        if exception in {"ValueError", "TypeError", "KeyError", "IndexError"}:
            found.setdefault(f"raise {exception}", 0.4)
    return sorted(found.items(), key=lambda item: -item[1])[:10]


TABLE: Table = {"statement": (guards,)}
