"""What a loop does with its names: begun anew, moved on; and how it is left or gone on with."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put, similarity
from deskagent.repair.candidates.blocks import around, first_in
from deskagent.repair.candidates.known import EMPTY
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS, Name, role
from deskagent.repair.syntax import LOOPS

_FIRST = frozenset({"None", "True", "False", *EMPTY})
_JUMPS = {
    "pass_statement": (("continue", 1.0), ("break", 0.5)),
    "continue_statement": (("break", 1.0), ("pass", 0.3), ("return", 0.3)),
    "break_statement": (("continue", 1.0), ("pass", 0.3), ("return", 0.4)),
}


def reset(node: Node, place: Place) -> Iterator[Proposal]:
    """In a loop: what was set before it and is added to in it begins anew, after it was handed on or at the loop's
    begin."""
    loop = node if node.kind in LOOPS else place.in_loop
    if place.function is None or loop is None:
        return
    here = {part.text for part in place.nodes if part.kind == "identifier" and role(part) == "read"}
    own_branch = node.kind not in LOOPS and node.parent is not None and node.parent.parent is not loop
    for name in place.own_variables:
        first = name.initial
        if name.origin != "local" or name.line > loop.row or not _restarts(first):
            continue
        if name.writes < 2 and not name.fills:
            continue
        line = f"{name.text} = {first}"
        if node.kind in LOOPS:
            made = first_in("statement.reset", node, line, 0.6)
            if made is not None:
                yield made
            continue
        weight = (1.0 if own_branch else 0.5) if name.text in here else (0.4 if own_branch else 0.2)
        yield from around("statement.reset", node, line, weight)


def _restarts(first: str) -> bool:
    return (
        first in _FIRST
        or first.lstrip("-").replace(".", "", 1).isdigit()
        or first in {'""', "''", 'b""', "b''"}
        or (first.startswith("[") and first.endswith("]") and len(first) < 12)
    )


def advance(node: Node, place: Place) -> Iterator[Proposal]:
    """A name that a loop reads and nobody moves on: `previous = value`, `count += 1`."""
    loop = node if node.kind in LOOPS else place.in_loop
    if place.function is None or loop is None:
        return
    for name in place.own_variables:
        stands = name.origin == "local" and name.writes == 1 and not name.fills and name.line <= loop.row
        if stands and not any(n.kind == "identifier" and n.text == name.text for n in loop.walk()):
            continue
        for line, weight in _moves(name, stands, place):
            yield from around("statement.advance", node, line, weight)


def _moves(name: Name, stands: bool, place: Place) -> Iterator[tuple[str, float]]:
    counts = bool(name.kinds & NUMBERS) or name.initial.lstrip("-").isdigit()
    if counts:
        yield f"{name.text} += 1", 1.0 if stands else 0.35
        yield f"{name.text} -= 1", 0.4 if stands else 0.15
        if not stands:
            return
    if not stands and name.origin not in {"local", "parameter"}:
        return
    for other in place.own_variables:
        if other.text == name.text or not other.could_be(name.kinds):
            continue
        if stands:
            alike = 0.6 + 0.6 * similarity(name.text, other.text)
            yield f"{name.text} = {other.text}", min(1.0, 0.8 * recent(other, place) * alike)
        elif other.origin == "local":
            yield f"{name.text} = {other.text}", 0.15 * recent(other, place)


def recent(name: Name, place: Place) -> float:
    """Names of the nearest loop and of the statement are likelier meant."""
    if place.in_loop is not None and place.in_loop.row < name.line <= place.statement.line:
        return 1.0
    if any(part.kind == "identifier" and part.text == name.text for part in place.nodes):
        return 0.9
    return 0.7 if name.origin == "parameter" else 0.6


def jump(node: Node, place: Place) -> Iterator[Proposal]:
    """`pass`, `continue` and `break` taken for each other."""
    if place.in_loop is not None:
        for word, weight in _JUMPS[node.kind]:
            yield put("statement.jump", node, word, weight)


TABLE: Table = {"statement": (reset, advance), **dict.fromkeys(_JUMPS, (jump,))}
