"""Conditions: turned round, one part less, one part more, the other way to be empty."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, exchange, shorten
from deskagent.repair.languages.fit import bare, level, operator_of, put, wrapped
from deskagent.repair.languages.place import Place
from deskagent.repair.nodes import Node

_COMPARES = frozenset({"<", "<=", ">", ">=", "==", "!=", "===", "!=="})


def connective(node: Node, place: Place) -> Iterator[Proposal]:
    """`a && b` → `a`, `b`; `a && b || c` grouped the other way."""
    token, left, right = operator_of(node), node.get("left"), node.get("right")
    if token is None or left is None or right is None or token.text not in {"&&", "||", "??"}:
        return
    for part, weight in ((left, 1.0), (right, 1.0)):
        yield put("condition.drop", node, part.text, weight, place, level(part, place.grammar))
    for part in (left, right):
        yield from negated(part, place, 0.5)
    if left.kind == "binary_expression" and (inner := operator_of(left)) is not None:
        one, two = left.get("left"), left.get("right")
        if inner.text in {"&&", "||"} and inner.text != token.text and one is not None and two is not None:
            text = f"{one.text} {inner.text} ({two.text} {token.text} {right.text})"
            yield put("condition.grouping", node, text, 1.0, place, level(left, place.grammar))
    if right.kind == "binary_expression" and (inner := operator_of(right)) is not None:
        one, two = right.get("left"), right.get("right")
        if inner.text in {"&&", "||"} and inner.text != token.text and one is not None and two is not None:
            text = f"({left.text} {token.text} {one.text}) {inner.text} {two.text}"
            yield put("condition.grouping", node, text, 1.0, place, level(right, place.grammar))


def negated(node: Node, place: Place, weight: float) -> Iterator[Proposal]:
    """The opposite of a condition; comparisons turn their operator, which is another edit's work."""
    inner = bare(node)
    token = operator_of(inner)
    if inner.kind == "unary_expression" and token is not None and token.text == "!":
        held = inner.get("operand") or inner.get("argument")
        if held is not None:
            yield put(
                "condition.negate", inner, bare(held).text, weight, place, level(bare(held), place.grammar)
            )
    elif token is not None and token.text in _COMPARES:
        return
    else:
        binds = place.grammar.precedence["unary_expression"]
        yield put("condition.negate", inner, f"!{wrapped(inner, binds, place.grammar)}", weight, place, binds)


def branch(node: Node, place: Place) -> Iterator[Proposal]:
    """The condition of a branch or a loop: negated, always true, and a part more."""
    condition = node.get("condition")
    if condition is None:
        return
    inner = bare(condition)
    yield from negated(inner, place, 1.0)
    yield from _extra(inner, place, node.kind in place.grammar.loops)
    if node.kind == "ternary_expression":
        one, two = node.get("consequence"), node.get("alternative")
        if one is not None and two is not None and one.text != two.text:
            yield exchange("condition.branches", one, two, 1.0)
            yield put("condition.drop", node, one.text, 0.5, place, level(one, place.grammar))
            yield put("condition.drop", node, two.text, 0.5, place, level(two, place.grammar))


def _extra(inner: Node, place: Place, loop: bool) -> Iterator[Proposal]:
    """`c` → `c && d`, `c || d` for what the function asks elsewhere and for its bare variables."""
    held = {n.text for n in inner.walk()}
    grammar = place.grammar
    offered: dict[str, tuple[float, int]] = {}
    for other in place.scope_nodes:
        condition = other.get("condition")
        if condition is None or bare(condition) is inner or condition.end - condition.start > 60:
            continue
        text = bare(condition).text
        if text not in held:
            offered.setdefault(text, (0.5, level(bare(condition), grammar)))
    for text, weight, binds in _checks(place):
        if text not in held:
            offered.setdefault(text, (weight, binds))
    for text, (weight, binds) in offered.items():
        for token in ("&&", "||"):
            own = grammar.precedence[token]
            new = f"({text})" if binds < own else text
            left = wrapped(inner, own, grammar)
            yield put("condition.extra", inner, f"{left} {token} {new}", weight, place, own)
            yield put("condition.extra", inner, f"{new} {token} {left}", weight * 0.8, place, own)


def _checks(place: Place) -> Iterator[tuple[str, float, int]]:
    """Tests that a variable's kind asks for."""
    grammar = place.grammar
    binds = grammar.precedence["=="]
    used = {n.text for n in place.nodes if n.kind == "identifier"}
    for name in place.own_variables:
        weight = 0.5 if name.text in used else 0.3
        if grammar.name == "go":
            kind = next(iter(name.kinds), "")
            if kind == "bool" or name.text in {"ok", "found"}:
                yield name.text, weight * 1.4, 90
                yield f"!{name.text}", weight * 1.4, grammar.precedence["unary_expression"]
            elif kind in {"int", "int64"}:
                for test, share in (("< 0", 1.0), ("== 0", 1.0), ("> 0", 1.0), ("<= 0", 0.6)):
                    yield f"{name.text} {test}", weight * share, binds
            elif kind.startswith(("*", "error")) or name.text == "err":
                yield f"{name.text} != nil", weight, binds
                yield f"{name.text} == nil", weight, binds
            elif kind.startswith("[]") or kind in {"string", "str", "list"}:
                yield f"len({name.text}) == 0", weight, binds
                yield f"len({name.text}) > 0", weight, binds
        else:
            yield name.text, weight, 90
            yield f"!{name.text}", weight, grammar.precedence["unary_expression"]
            for test, share in (
                ("=== 0", 0.4),
                ("> 0", 0.4),
                ("< 0", 0.4),
                ("=== undefined", 0.4),
                ("!== undefined", 0.4),
                ("=== null", 0.3),
            ):
                yield f"{name.text} {test}", weight * share, binds
            if not name.kinds or name.kinds & {"array", "str"}:
                yield f"{name.text}.length === 0", weight * 0.4, binds
                yield f"{name.text}.length > 0", weight * 0.4, binds


def otherwise(node: Node, place: Place) -> Iterator[Proposal]:
    """`if a {…} if b {…}` ↔ `if a {…} else if b {…}`."""
    if node.parent is None:
        return
    beside = place.tree.siblings(node)
    index = next((i for i, part in enumerate(beside) if part is node), -1)
    if (
        index > 0
        and beside[index - 1].kind == "if_statement"
        and beside[index - 1].get("alternative") is None
    ):
        before = beside[index - 1]
        edit = (before.end, node.start, " else ")
        yield Proposal("condition.else", 0.6, (edit,), f"else before {shorten(node.text)}")
    alternative = node.get("alternative")
    if alternative is not None:
        start = next((c.start for c in node.children if c.text == "else"), alternative.start)
        yield Proposal(
            "condition.else", 0.3, ((start, alternative.end, ""),), f"drop {shorten(alternative.text)}"
        )
