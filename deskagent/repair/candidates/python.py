"""Python's table: every family's rows put together."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates import (
    absent,
    apart,
    arguments,
    arithmetic,
    bases,
    borrow,
    branches,
    calls,
    clauses,
    coercing,
    collect,
    compare,
    completed,
    conditions,
    constants,
    decorated,
    defaults,
    dispatch,
    diverted,
    dunders,
    elements,
    exceptions,
    fallen,
    fields,
    formatted,
    fresh,
    groups,
    guards,
    idioms,
    importing,
    indexing,
    leaving,
    lineage,
    loops,
    makers,
    matching,
    members,
    names,
    narrowed,
    nested,
    nones,
    operand,
    otherwise,
    over,
    owners,
    passed,
    poured,
    presence,
    raising,
    regexes,
    returns,
    rows,
    slips,
    spelled,
    state,
    statements,
    streams,
    strict,
    strings,
    texts,
    told,
    twins,
    typed,
    warned,
    widen,
    zeros,
)
from deskagent.repair.candidates.base import Operator, Place, Proposal

FAMILIES = (
    absent, compare, arithmetic, constants, names, members, arguments, calls, indexing, conditions, returns, guards,
    exceptions, statements, strings, operand, state, borrow, branches,
    loops, fields,
    elements, told, texts, collect, clauses, regexes, defaults, widen,
    raising, bases, presence, fresh, matching, groups, warned, streams, strict, fallen,
    leaving, makers, decorated, dunders, importing, dispatch, slips, completed, rows,
    coercing, idioms, spelled, lineage,
    nones, typed, owners, otherwise, over, passed, apart, poured,
    narrowed, nested, zeros, formatted, diverted,
)  # fmt: skip


def _merged() -> dict[str, tuple[Operator, ...]]:
    table: dict[str, tuple[Operator, ...]] = {}
    for family in FAMILIES:
        for kind, operators in family.TABLE.items():
            table[kind] = table.get(kind, ()) + tuple(operators)
    return table


TABLE = _merged()
"""Node kind → operators; "statement" stands for the suspect statement itself, of whatever kind."""


def propose(place: Place) -> Iterator[Proposal]:
    """Every edit the table knows for one statement, as written: neither checked nor without duplicates."""
    alone: list[Proposal] = []
    for operator in TABLE["statement"]:
        yield from operator(place.statement, place)
    for node in place.nodes:
        if node.named:
            for operator in TABLE.get(node.kind, ()):
                for proposal in operator(node, place):
                    alone.append(proposal)
                    yield proposal
    yield from twins.everywhere(alone, place)
