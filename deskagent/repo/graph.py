"""PageRank over weighted edges, by power iteration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

DAMPING = 0.85
_ROUNDS = 24  # an error shrinks by DAMPING a round, mostly faster
_ENOUGH = 1e-5


def pagerank(
    size: int, edges: Iterable[tuple[int, int, float]], personal: Sequence[float] | None = None
) -> list[float]:
    """The ranks of nodes 0 … size - 1, which sum to 1.

    `edges` are (from, to, weight > 0), several between two nodes add up. `personal` says where a walk starts
    and starts anew (all alike where it is None or all zero). A node without a way out leads back there.
    """
    if not size:
        return []
    total = sum(personal) if personal else 0.0
    start = [value / total for value in personal] if personal and total else [1.0 / size] * size
    out = [0.0] * size
    weights: dict[tuple[int, int], float] = {}
    for source, target, weight in edges:
        weights[source, target] = weights.get((source, target), 0.0) + weight
        out[source] += weight
    steps = [(source, target, DAMPING * weight / out[source]) for (source, target), weight in weights.items()]
    ends = [node for node in range(size) if not out[node]]
    ranks = start
    for _ in range(_ROUNDS):
        again = 1.0 - DAMPING + DAMPING * sum(ranks[node] for node in ends)
        new = [again * value for value in start]
        for source, target, share in steps:
            new[target] += share * ranks[source]
        change = sum(abs(a - b) for a, b in zip(new, ranks, strict=True))
        ranks = new
        if change < _ENOUGH:
            break
    return ranks
