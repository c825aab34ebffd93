"""Statements of the file's other functions, put in here with their names rebound to names in scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten, similarity
from deskagent.repair.candidates.blocks import after, alone, around, before, instead
from deskagent.repair.nodes import Node
from deskagent.repair.scope import Scopes, role
from deskagent.repair.syntax import (
    COMPOUND,
    Syntax,
    function_of,
    is_docstring,
    siblings,
)

MAX_TEXT, MAX_BORROWED = 90, 60
_TAKEN = frozenset(
    ["expression_statement", "return_statement", "raise_statement", "delete_statement", "assert_statement"]
)
_LIKE_SELF = re.compile(
    r"(self\.__class__|type\(self\)|cls)(\.__new__)?\(|(copy\.)?copy\(self\)|object\.__new__\("
)
"""How a further object of the class is made: what is done to `self` elsewhere may be owed to it."""
_NAMING = frozenset({"read", "write", "update"})
_Trait = tuple[str, bool, frozenset[str], frozenset[str]]
"""A name that isn't in scope; whether it is a function, a class or a module where it comes from; or else the kinds and
attributes that it has there."""


@dataclass(frozen=True)
class _Source:
    """A statement that may be borrowed; the texts of those before and after it in its block. `names` are all that it
    reads or gives a value, `parts` where they stand."""

    node: Node
    previous: str
    following: str
    function: str
    names: frozenset[str]
    parts: tuple[Node, ...]


@lru_cache(maxsize=32)
def _sources(syntax: Syntax) -> tuple[_Source, ...]:
    """The file's short simple statements that stand in functions."""
    found = []
    for node in syntax.statements:
        if (
            node.kind not in _TAKEN
            or node.end - node.start > MAX_TEXT
            or "\n" in node.text
            or is_docstring(node)
            or node.text.endswith("pass")
        ):
            continue
        function = function_of(node)
        name = function.get("name") if function is not None else None
        if function is None or name is None:
            continue
        beside = siblings(node)
        at = next((i for i, part in enumerate(beside) if part is node), -1)
        previous = beside[at - 1].text if at > 0 else ""
        following = beside[at + 1].text if 0 <= at < len(beside) - 1 else ""
        parts = tuple(n for n in node.walk() if n.kind == "identifier" and role(n) in _NAMING)
        names = frozenset(part.text for part in parts)
        found.append(_Source(node, _head(previous), _head(following), name.text, names, parts))
    return tuple(found)


def _head(text: str) -> str:
    return text.split("\n", 1)[0]


def borrowed(node: Node, place: Place) -> Iterator[Proposal]:
    """A statement of another function of the file, where what stands beside it there is alike to this one."""
    function = place.function
    if function is None or node is function or not (alone(node) or node.kind in COMPOUND):
        return
    name = function.get("name")
    own_name = name.text if name is not None else None
    here = _head(node.text)
    offered: dict[str, tuple[float, float]] = {}
    for source, lines in _lines(function, place):
        kin = similarity(source.function, own_name) if own_name is not None else 0.0
        ahead = _alike(here, source.previous)  # this statement stands where that one's forerunner does
        behind = _alike(here, source.following)
        # The order of two lines seldom matters: a sure neighbour on one side speaks for the other side too.
        ahead, behind = max(ahead, 0.7 * (behind == 1.0)), max(behind, 0.7 * (ahead == 1.0))
        low = 0.15 + 0.2 * kin
        below, above = low + 0.65 * ahead, low + 0.65 * behind
        for line, fit in lines:
            known = offered.get(line, (0.0, 0.0))
            offered[line] = max(known[0], fit * below), max(known[1], fit * above)
    ranked = sorted(offered.items(), key=lambda item: -max(item[1]))[:MAX_BORROWED]
    for line, (below, above) in ranked:
        ends = line.startswith(("return", "raise"))
        if node.kind in COMPOUND:
            yield from around("statement.borrow", node, line, max(below, above) * (0.3 if ends else 0.8))
            continue
        for made in (
            before("statement.borrow", node, line, above) if not ends else None,
            after("statement.borrow", node, line, below * (0.3 if ends else 1.0)),
            _in_place(node, line, max(below, above)),
        ):
            if made is not None:
                yield made


def _lines(function: Node, place: Place) -> list[tuple[_Source, list[tuple[str, float]]]]:
    """What may be borrowed from other functions, as it reads here, with how well it fits; the same for all places of
    a function that the same variables have a value at."""
    variables = tuple(name.text for name in place.own_variables)
    known = place.shared.setdefault("borrowed", {})
    if variables not in known:
        text, stand_ins = function.text, {}
        known[variables] = [
            (source, lines)
            for source in _sources(place.syntax)
            if not source.node.inside(function)
            and (
                lines := [
                    (line, fit * 0.3 if line in text else fit)
                    for line, fit in _rebound(source, place, stand_ins)
                ]
            )
        ]
    return known[variables]


def _in_place(node: Node, line: str, weight: float) -> Proposal | None:
    """Instead of a statement of the same form, of which it keeps some words."""
    alike = similarity(line, node.text)
    if node.kind in COMPOUND or alike < 0.4 or line == node.text:
        return None
    note = f"{shorten(node.text)} → {shorten(line)}"
    return Proposal("statement.borrow", min(1.0, weight * 0.5 + 0.4 * alike), (instead(node, line),), note)


def _alike(one: str, two: str) -> float:
    """1 for the same line, else half of how alike the two look, 0 where little is."""
    if one == two:
        return 1.0
    found = similarity(one, two) if one and two else 0.0
    return 0.6 * found if found > 0.5 else 0.0


def _rebound(
    source: _Source, place: Place, known: dict[_Trait, list[tuple[str, float]]]
) -> Iterator[tuple[str, float]]:
    """The statement's text with what isn't in scope here put under other names: (text, fit). `known` keeps what was
    found of names to put."""
    lost = sorted(source.names - place.names.keys())
    if not lost:
        yield source.node.text, 1.0
        if "self" in source.names:
            for name in place.own_variables:
                if _LIKE_SELF.match(name.initial):
                    yield _renamed(source, {"self": name.text}), 1.0
        return
    if len(lost) > 2:
        return
    new: list[dict[str, str]] = [{}]
    fit = 1.0
    for name in lost:
        trait = _trait(source.node, name, place.scopes)
        if trait not in known:
            known[trait] = _stand_ins(trait, place)
        ways = known[trait]
        if not ways:
            return
        fit *= ways[0][1]
        new = [{**one, name: text} for one in new for text, _ in ways[:2]]
    for binding in new:
        if len(set(binding.values())) == len(binding):
            yield _renamed(source, binding), fit


def _trait(source: Node, lost: str, scopes: Scopes) -> _Trait:
    memo = scopes.memo.setdefault(source, {})
    if lost not in memo:
        name = scopes.visible(source).get(lost)
        if name is None:
            memo[lost] = lost, False, frozenset(), frozenset()
        else:
            fixed = name.origin in {"definition", "import", "builtin"}
            memo[lost] = lost, fixed, frozenset(name.kinds), frozenset(name.attributes)
    return memo[lost]


def _stand_ins(trait: _Trait, place: Place) -> list[tuple[str, float]]:
    """Names of the scope that may stand for one that isn't in it, with how well they do."""
    lost, fixed, kinds, attributes = trait
    if fixed:
        return []
    found = []
    for name in place.own_variables:
        fit = 0.25 + 0.35 * similarity(name.text, lost)
        if kinds and name.kinds:
            fit += 0.2 if kinds & name.kinds else -0.25
        if attributes and attributes & name.attributes:
            fit += 0.3
        found.append((name.text, min(0.9, fit)))
    return sorted((way for way in found if way[1] > 0.2), key=lambda way: -way[1])


def _renamed(source: _Source, binding: dict[str, str]) -> str:
    text, at = "", source.node.start
    utf8 = source.node.syntax.source.utf8
    for part in source.parts:
        if part.text in binding:
            text += utf8[at : part.start].decode("utf-8", "replace") + binding[part.text]
            at = part.end
    return text + utf8[at : source.node.end].decode("utf-8", "replace")


TABLE: Table = {"statement": (borrowed,)}
