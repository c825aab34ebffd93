"""Operators, constants and counts: boundary, sign, off by one, an operand too many, the wrong literal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, exchange, similarity
from deskagent.repair.languages.fit import ATOM, is_value, level, operator_of, put, wrapped
from deskagent.repair.languages.place import Place
from deskagent.repair.nodes import Node

_ORDERED = frozenset({"-", "/", "%", "**", "<<", ">>"})
_COMPARES = frozenset({"<", "<=", ">", ">=", "==", "!=", "===", "!=="})
_LOGIC = frozenset({"&&", "||", "??"})
_SIZES: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("==", "0"): (("<=", "1"),),
    (">", "0"): ((">", "1"),),
    (">", "1"): ((">", "0"),),
    (">=", "1"): ((">", "1"),),
    ("<", "1"): (("<=", "1"),),
}


def operator(node: Node, place: Place) -> Iterator[Proposal]:
    """`<` → `<=`, `+` → `-`, `&&` → `||`; likewise `+=` → `-=`."""
    token = operator_of(node)
    if token is None:
        return
    augmented = node.kind != "binary_expression"
    text = token.text.removesuffix("=") if augmented else token.text
    for new, kind, weight in place.grammar.changes.get(text, ()):
        if augmented:
            if kind.startswith("arithmetic"):
                yield put("arithmetic.augmented", token, f"{new}=", weight, place)
            continue
        binds = place.grammar.precedence.get(new, ATOM)
        if binds == level(node, place.grammar):
            yield put(kind, token, new, weight, place)
            continue
        left, right = node.get("left"), node.get("right")
        if left is not None and right is not None:
            text_of = (
                f"{wrapped(left, binds, place.grammar)} {new} {wrapped(right, binds + 1, place.grammar)}"
            )
            yield put(kind, node, text_of, weight, place, binds)


def plain_assignment(node: Node, place: Place) -> Iterator[Proposal]:
    """`a = b` → `a += b`, and back."""
    left, right = node.get("left"), node.get("right")
    if left is None or right is None or node.kind == "binary_expression":
        return
    token = next((c for c in node.children if c.start >= left.end and not c.named), None)
    if token is None or "\n" in token.text:
        return
    if token.text == "=":
        for new, weight in (("+=", 0.7), ("-=", 0.2), ("*=", 0.15)):
            yield put("arithmetic.augment", token, new, weight, place)
    elif token.text in {"+=", "-=", "*=", "||=", "??="}:
        yield put("arithmetic.augment", token, "=", 0.5, place)


def step(node: Node, place: Place) -> Iterator[Proposal]:
    """`i++` → `i--`."""
    for child in node.children:
        if child.text in {"++", "--"}:
            yield put("arithmetic.augmented", child, "--" if child.text == "++" else "++", 1.0, place)


def operands(node: Node, place: Place) -> Iterator[Proposal]:
    """`a - b` → `b - a`; one operand alone; `(a + b) * c` ↔ `a + b * c`."""
    left, right, token = node.get("left"), node.get("right"), operator_of(node)
    if left is None or right is None or token is None or token.text in _COMPARES | _LOGIC:
        return
    grammar = place.grammar
    binds = level(node, grammar)
    text_like = {"str"} & (place.kinds(left) | place.kinds(right)) or "string" in left.kind + right.kind
    if left.text != right.text and (token.text in _ORDERED or text_like):
        text = f"{wrapped(right, binds, grammar)} {token.text} {wrapped(left, binds + 1, grammar)}"
        yield put("arithmetic.operands", node, text, 1.0, place, binds)
    yield put("arithmetic.drop", node, left.text, 0.8, place, level(left, grammar))
    yield put("arithmetic.drop", node, right.text, 0.6, place, level(right, grammar))
    for side, other, first in ((left, right, True), (right, left, False)):
        inner = side.parts[0] if side.kind == "parenthesized_expression" and side.parts else side
        one, two, inside = inner.get("left"), inner.get("right"), operator_of(inner)
        if inner.kind != "binary_expression" or one is None or two is None or inside is None:
            continue
        if inside.text in _COMPARES | _LOGIC:
            continue
        if inner is not side and level(inner, grammar) < binds:
            text = (
                f"{inner.text} {token.text} {other.text}"
                if first
                else f"{other.text} {token.text} {inner.text}"
            )
            yield put("arithmetic.grouping", node, text, 0.6, place, level(inner, grammar))
        elif inner is side and level(side, grammar) > binds:
            text = (
                f"{one.text} {inside.text} ({two.text} {token.text} {other.text})"
                if first
                else f"({other.text} {token.text} {one.text}) {inside.text} {two.text}"
            )
            yield put("arithmetic.grouping", node, text, 1.0, place, level(side, grammar))


def sizes(node: Node, place: Place) -> Iterator[Proposal]:
    """`n == 0` → `n <= 1`: empty and single are often one case."""
    right, token = node.get("right"), operator_of(node)
    if right is None or token is None or right.kind not in place.grammar.numbers:
        return
    for new, bound in _SIZES.get((token.text.replace("===", "=="), right.text), ()):
        edits = ((token.start, token.end, new), (right.start, right.end, bound))
        yield Proposal("compare.size", 0.5, edits, f"{token.text} {right.text} → {new} {bound}")


def number(node: Node, place: Place) -> Iterator[Proposal]:
    """A number moved by one, doubled, negated; one of those that the failing tests show."""
    text = node.text.replace("_", "")
    offered: dict[str, float] = {}
    if re.fullmatch(r"\d{1,9}", text) and not (text.startswith("0") and text != "0"):
        value = int(text)
        for new, weight in (
            (value + 1, 1.0),
            (value - 1, 1.0),
            (0, 0.5),
            (1, 0.5),
            (2, 0.25),
            (-1, 0.3),
            (-value, 0.2),
            (value * 10, 0.3),
            (value // 10, 0.3),
            (100, 0.1),
            (1000, 0.15),
            (60, 0.1),
            (24, 0.1),
            (12, 0.1),
        ):
            if new >= 0 or place.grammar.precedence.get("unary_expression"):
                offered.setdefault(str(new), weight)
    elif re.fullmatch(r"\d*\.\d+", text):
        for new, weight in (
            (f"{float(text) * 10:g}", 0.4),
            (f"{float(text) / 10:g}", 0.4),
            (f"{float(text) * 2:g}", 0.2),
            ("1.0", 0.2),
        ):
            offered.setdefault(new, weight)
    for literal in sorted(place.hints.literals):
        if re.fullmatch(r"-?\d{1,9}(?:\.\d{1,6})?", literal):
            offered.setdefault(literal, 0.35)
    offered.pop(text, None)
    for new, weight in offered.items():
        yield put(
            "constant.integer",
            node,
            new,
            weight,
            place,
            ATOM if new[0] != "-" else place.grammar.precedence["unary_expression"],
        )
    for name in place.own_variables:
        if not name.kinds or name.kinds & {"int", "float64", "number"}:
            yield put("constant.element", node, name.text, 0.3, place)


def word(node: Node, place: Place) -> Iterator[Proposal]:
    """`true` ↔ `false`, nothing → something."""
    other = {"true": "false", "false": "true"}.get(node.text)
    if other:
        yield put("constant.word", node, other, 1.0, place)


def text(node: Node, place: Place) -> Iterator[Proposal]:
    """A string → one that a failing test shows, another of the file that looks like it, with or without a space."""
    body = next((c for c in node.children if c.kind in place.grammar.string_text), None)
    parent = node.parent
    if parent is None or parent.kind.startswith("import") or node.field == "source":
        return
    if body is None:
        start, end, old = node.start + 1, node.end - 1, ""
    else:
        start, end, old = body.start, body.end, body.text
    quote = node.text[0]
    offered: dict[str, float] = {}
    for literal in place.hints.literals:
        if 0 < len(literal) < 60 and quote not in literal and "\\" not in literal and "\n" not in literal:
            offered[literal] = 0.3 + 0.7 * similarity(literal, old) if old else 0.4
    for other in place.tree.of(*place.grammar.string_text):
        if (
            other.kind in place.grammar.string_text
            and other.text != old
            and quote not in other.text
            and len(other.text) < 40
        ):
            offered.setdefault(other.text, 0.15 + 0.4 * similarity(other.text, old))
    for new, weight in (
        (f"{old} ", 0.2),
        (f" {old}", 0.2),
        (old.strip(), 0.3),
        ("", 0.3),
        (old.lower(), 0.2),
        (old.upper(), 0.2),
        (" ", 0.2),
        (", ", 0.3 if old == "," else 0.05),
        ("\\n", 0.3 if len(old) < 3 else 0.02),
        (",", 0.1),
    ):
        offered.setdefault(new, weight)
    offered.pop(old, None)
    for new, weight in offered.items():
        yield Proposal(
            "constant.string",
            min(1.0, weight),
            ((start, end, new),),
            f"{quote}{old}{quote} → {quote}{new}{quote}",
        )


def offset(node: Node, place: Place) -> Iterator[Proposal]:
    """`n` → `n + 1`, `n - 1`, where it may be a number."""
    if not is_value(node, place) or not _countable(node, place):
        return
    parent = node.parent
    near = parent is not None and (
        parent.kind in {"subscript_expression", "index_expression", "slice_expression"}
    )
    weight = 1.0 if near else 0.5
    if parent is not None and parent.kind == "binary_expression":
        token, other = operator_of(parent), parent.get("right" if node.field == "left" else "left")
        if (
            token is not None
            and token.text in {"+", "-"}
            and other is not None
            and other.kind in place.grammar.numbers
        ):
            weight *= 0.3  # `n - 1` is the constant's work
        elif token is not None and token.text in _COMPARES:
            weight = 0.7
    binds = place.grammar.precedence["+"]
    for sign in "+-":
        yield put(
            "arithmetic.offset", node, f"{wrapped(node, binds, place.grammar)} {sign} 1", weight, place, binds
        )


def _countable(node: Node, place: Place) -> bool:
    kinds = place.kinds(node)
    if kinds:
        return bool(kinds & {"int", "number", "int64", "uint", "uint64", "int32", "float64"})
    if node.kind == "call_expression":
        return node.text.startswith(("len(", "Math."))
    if node.kind == place.grammar.member[0]:
        return node.text.endswith((".length", ".size", ".count"))
    name = place.names.get(node.text)
    return name is not None and name.origin in {"parameter", "local"} and not name.called


def term(node: Node, place: Place) -> Iterator[Proposal]:
    """A value with a variable added or taken away."""
    if not is_value(node, place) or not _countable(node, place) or node.kind != "identifier":
        return
    binds = place.grammar.precedence["+"]
    for name in place.own_variables:
        if name.text != node.text and (not name.kinds or name.kinds & {"int", "number"}) and not name.called:
            for sign, weight in (("-", 0.5), ("+", 0.4)):
                yield put("arithmetic.term", node, f"{node.text} {sign} {name.text}", weight, place, binds)


def unary(node: Node, place: Place) -> Iterator[Proposal]:
    """`-x` → `x`, `!x` → `x`."""
    token = operator_of(node)
    inside = node.get("operand") or node.get("argument")
    if token is not None and inside is not None and token.text in {"-", "!"}:
        kind = "condition.positive" if token.text == "!" else "arithmetic.unary"
        yield put(kind, node, inside.text, 0.8, place, level(inside, place.grammar))


def boundaries(node: Node, place: Place) -> Iterator[Proposal]:
    """Bounds of a slice left out or set to a variable."""
    for name in ("start", "end"):
        part = node.get(name)
        if part is not None:
            yield put("index.end", part, "", 0.6, place)
    colon = next((c for c in node.children if c.text == ":"), None)
    if colon is None:
        return
    for variable in place.own_variables:
        if variable.kinds and not variable.kinds & {"int"}:
            continue
        if node.get("end") is None:
            yield Proposal(
                "index.end", 0.5, ((colon.end, colon.end, variable.text),), f"slice ends at {variable.text}"
            )
        if node.get("start") is None:
            yield Proposal(
                "index.end",
                0.5,
                ((colon.start, colon.start, variable.text),),
                f"slice begins at {variable.text}",
            )
    if node.get("start") is None:
        yield Proposal("index.end", 0.6, ((colon.start, colon.start, "1"),), "slice begins at 1")


def swap_index(node: Node, place: Place) -> Iterator[Proposal]:
    """`m[i][j]` → `m[j][i]`."""
    kind, held, index = place.grammar.index
    inner = node.get(held)
    one, two = node.get(index), inner.get(index) if inner is not None and inner.kind == kind else None
    if one is not None and two is not None and one.text != two.text:
        yield exchange("index.order", two, one, 1.0)
