"""The same slip at more than one place: a wrong name, operator, attribute or literal changed at all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deskagent.repair.candidates.base import Place, Proposal, shorten
from deskagent.repair.candidates.priors import OPERATORS
from deskagent.repair.nodes import Node
from deskagent.repair.scope import role

_KINDS = (
    "name.variable", "name.builtin", "name.function", "name.attribute", "name.elsewhere", "name.simpler", "name.part",
    "member.swap", "member.attribute", "member.call", "constant.integer", "constant.float", "constant.word",
    "constant.string", "compare.boundary", "compare.flip", "arithmetic.operator", "arithmetic.augmented",
    "arithmetic.offset", "index.end", "index.bounds", "call.wrap", "call.method", "string.pattern",
)  # fmt: skip
_MOST_LIKE, MAX_TWINS = 6, 40


def everywhere(singles: Iterable[Proposal], place: Place) -> Iterator[Proposal]:
    """Each of the best `singles` that replaces one node, done at every node of the statement that looks the same,
    and at every one of the function."""
    best = max(OPERATORS.values())
    ranked = sorted(
        (p for p in singles if p.operator in _KINDS and len(p.edits) == 1),
        key=lambda p: -p.weight * OPERATORS.get(p.operator, 0.0),
    )
    seen: set[tuple[tuple[int, int, str], ...]] = set()
    nodes: dict[tuple[int, int], Node] = {}
    for node in place.nodes:
        nodes.setdefault((node.start, node.end), node)
    like: dict[tuple[int, int], list[Node]] = {}
    for proposal in ranked:
        start, end, new = proposal.edits[0]
        node = nodes.get((start, end))
        if node is None:
            continue
        same = like.get((start, end))
        if same is None:
            same = like[start, end] = _like(node, place)
        inside = [other for other in same if other.inside(place.statement)]
        for chosen, share in ((same, 0.6), (inside, 0.8)):
            if not 1 < len(chosen) <= _MOST_LIKE:
                continue
            edits = tuple((other.start, other.end, new) for other in chosen)
            if edits in seen:
                continue
            seen.add(edits)
            weight = share * proposal.weight * OPERATORS[proposal.operator] / best
            note = f"{shorten(node.text)} → {shorten(new)}, {len(chosen)} times"
            yield Proposal("twin.all", weight, edits, note)
        if len(seen) >= MAX_TWINS:
            return


def _like(node: Node, place: Place) -> list[Node]:
    """Nodes of the function that look as `node` does and play the same part, in source order."""
    part = role(node) if node.kind == "identifier" else node.field
    found = [
        other
        for other in place.scope_nodes
        if other.kind == node.kind
        and other.end - other.start == node.end - node.start
        and other.text == node.text
        and (role(other) if other.kind == "identifier" else other.field) == part
    ]
    return [other for i, other in enumerate(found) if i == 0 or other.start >= found[i - 1].end]
