"""An error that the tests want and the code doesn't raise: put under a condition, at the end, or in place of what
stands there; its message as the tests say it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, put, replace, shorten
from deskagent.repair.candidates.blocks import (
    ENDS,
    after,
    alone,
    before,
    dedented,
    first_in,
    indented,
    instead,
)
from deskagent.repair.candidates.handed import handed
from deskagent.repair.candidates.messages import Import, caught_as, forms, raised_here, wanted_texts
from deskagent.repair.candidates.rejecting import rejecting
from deskagent.repair.nodes import Node
from deskagent.repair.scope import BUILTINS
from deskagent.repair.syntax import CLAUSES, Syntax, block, is_docstring

MAX_ERRORS, MAX_MADE = 10, 150
SHARP = 1.5
"""There are many conditions with many messages: the unlikely ones must not take the likely ones' share."""
_GIVEN_UP = frozenset({"none", "false", "string", "list", "integer", "unary_operator", "tuple", "dictionary"})


def _errors(place: Place) -> list[tuple[str, tuple[Import, ...], float]]:
    """`X("message")` texts, each once, the likeliest first."""
    known = place.memo.get("errors")
    if isinstance(known, list):
        return known
    found: dict[str, tuple[tuple[Import, ...], float]] = {}
    for name, given, needed, weight in raised_here(place):
        text = f"{name}({given})" if given else name
        if text not in found or found[text][1] < weight:
            found[text] = (needed, weight)
        if not given and name not in BUILTINS:
            found.setdefault(f"{name}()", (needed, weight * 0.7))
    ranked = sorted(found.items(), key=lambda item: -item[1][1])[:MAX_ERRORS]
    made = [(text, needed, weight) for text, (needed, weight) in ranked]
    place.memo["errors"] = made
    return made


def _with(made: Proposal | None, needed: tuple[Import, ...]) -> Iterator[Proposal]:
    if made is not None:
        yield Proposal(made.operator, made.weight, (*needed, *made.edits), made.note)


def guards(node: Node, place: Place) -> Iterator[Proposal]:
    """`if page < 1: raise ValueError("…")` before the statement, or first in the function."""
    function = place.function
    if function is None or not place.hints.asked.raises or node.kind in CLAUSES:
        return
    header = node.kind == "function_definition"
    if not header and (not alone(node) or node.kind == "raise_statement"):
        return
    body = block(function)
    beginning = next((p for p in body.parts if not is_docstring(p)), None) if body is not None else None
    share = (1.0 if header or node is beginning else 0.7) * (1.0 if handed(place).rejected else 0.6)
    unit = place.syntax.unit
    ranked = sorted(
        ((weight * fit, condition, text, needed)
         for condition, fit in rejecting(place).items()
         for text, needed, weight in _errors(place)),
        key=lambda row: (-row[0], row[1], row[2]),
    )  # fmt: skip
    top = ranked[0][0] if ranked else 1.0
    for value, condition, text, needed in ranked[:MAX_MADE]:
        weight = (value / top) ** SHARP
        lines = f"if {condition}:\n{unit}raise {text}"
        made = (first_in if header else before)("guard.raise", node, lines, weight * share)
        yield from _with(made, needed)


def otherwise(node: Node, place: Place) -> Iterator[Proposal]:
    """Where nothing fits: an `else` that raises, `raise` at the function's end, or instead of giving up quietly."""
    function = place.function
    if function is None or not place.hints.asked.raises or node is function:
        return
    unit = place.syntax.unit
    body = block(function)
    last = body.parts[-1] if body is not None and body.parts else None
    for text, needed, weight in _errors(place):
        line = f"raise {text}"
        if node is last and node.kind not in ENDS:
            yield from _with(after("guard.otherwise", node, line, weight), needed)
        if (
            node.kind == "if_statement"
            and alone(node)
            and not any(c.kind == "else_clause" for c in node.children)
        ):
            lines = f"else:\n{unit}{line}"
            yield from _with(after("guard.otherwise", node, lines, weight * 0.7), needed)
        if node.kind in {
            "return_statement",
            "pass_statement",
            "continue_statement",
            "break_statement",
        } and alone(node):
            value = node.parts[0] if node.parts else None
            quiet = value is None or value.kind in _GIVEN_UP
            fit = 1.0 if quiet else 0.35
            for tail, part in _tails(node):
                made = Proposal("guard.otherwise", weight * fit * part, (instead(node, line + tail),),
                                f"{shorten(node.text)} → {shorten(line)}")  # fmt: skip
                yield from _with(made, needed)


def _tails(node: Node) -> list[tuple[str, float]]:
    """What follows a `raise` in an `except` clause."""
    if not any(n.kind == "except_clause" for n in node.ancestors()):
        return [("", 1.0)]
    name = caught_as(node)
    return [("", 0.8), (" from None", 0.8), *([(f" from {name}", 1.0)] if name else [])]


def unless(node: Node, place: Place) -> Iterator[Proposal]:
    """`assert x, "…"` → `if not x: raise …`."""
    parts = node.parts
    if not parts or not alone(node):
        return
    test = parts[0]
    flipped = _flipped(test)
    for text, needed, weight in _errors(place):
        for condition, fit in flipped:
            lines = f"if {condition}:\n{place.syntax.unit}raise {text}"
            made = Proposal(
                "guard.raise", weight * fit, (instead(node, lines),), f"raise {shorten(text)} instead"
            )
            yield from _with(made, needed)


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "in": "not in", "not in": "in",
             "is": "is not", "is not": "is"}  # fmt: skip


def _flipped(test: Node) -> list[tuple[str, float]]:
    if test.kind == "not_operator" and test.parts:
        return [(test.parts[0].text, 1.0)]
    signs = test.all("operators") if test.kind == "comparison_operator" else []
    if len(signs) == 1 and len(test.parts) == 2:
        left, right = test.parts
        return [(f"{left.text} {_OPPOSITE[signs[0].text]} {right.text}", 1.0), (f"not {test.text}", 0.6)]
    return [(f"not ({test.text})" if test.kind == "boolean_operator" else f"not {test.text}", 1.0)]


def reworded(node: Node, place: Place) -> Iterator[Proposal]:
    """`raise X("unknown")` → `raise X(f"unknown: {name}")`, another class and message, `from` what was caught."""
    value = node.parts[0] if node.parts else None
    if value is None:
        name = caught_as(node)
        for text, needed, weight in _errors(place):
            for tail in (f" from {name}", "") if name else (" from None", ""):
                made = replace("exception.message", node, node, f"raise {text}{tail}", weight)
                yield from _with(made, needed)
        return
    given = arguments(value) if value.kind == "call" else []
    kind = value.get("function") if value.kind == "call" else value
    if kind is None:
        return
    texts = [
        *wanted_texts(place),
        *(e for e in place.hints.examples.expected[:6] if isinstance(e, str) and " " in e),
    ]
    first = next((part for part in given if part.kind != "keyword_argument"), None)
    for message in dict.fromkeys(texts):
        for text, weight in forms(message, place):
            if first is not None and first.text != text:
                yield put("exception.message", first, text, weight * _kin(first.text, message))
            elif first is None and kind.kind in {"identifier", "attribute"}:
                yield put("exception.message", value, f"{kind.text}({text})", weight)
    for text, needed, weight in _errors(place):
        if text != value.text and text.partition("(")[0] != kind.text:
            yield from _with(put("exception.message", value, text, weight * 0.8), needed)


def _kin(old: str, message: str) -> float:
    """Whether a message's words are those of the literal that it would stand for."""
    one, two = set(old.strip("f'\"").lower().split()), set(message.lower().split())
    return 0.4 + 0.6 * len(one & two) / max(1, min(len(one), len(two)))


def made_not_raised(node: Node, place: Place) -> Iterator[Proposal]:
    """`ValueError("…")` alone, or returned → `raise ValueError("…")`."""
    value = node.parts[0] if node.parts else None
    kind = value.get("function") if value is not None and value.kind == "call" else None
    if value is None or kind is None or place.function is None:
        return
    if kind.text.rpartition(".")[2].endswith(("Error", "Exception")) or any(
        kind.text == raised.name for raised in place.hints.asked.raises
    ):
        yield replace("exception.message", node, node, f"raise {value.text}", 1.0)


def attempted(node: Node, place: Place) -> Iterator[Proposal]:
    """`try:` around the statement, for an error that came: another raised instead, or a way on without it."""
    function = place.function
    if (
        function is None
        or node is function
        or not alone(node)
        or node.kind in CLAUSES
        or "\n" in node.text.strip()
    ):
        return
    if not any(n.kind in {"call", "subscript", "attribute", "binary_operator"} for n in place.nodes):
        return
    came = sorted(place.hints.exceptions - {"AssertionError", "Timeout", "SyntaxError", "NameError", "Failed",
                                            *(r.name for r in place.hints.asked.raises)})  # fmt: skip
    if any(n.kind == "try_statement" and node.row - n.row <= 1 for n in node.ancestors()):
        return
    unit = place.syntax.unit
    body = indented(dedented(node), unit)
    for error in came[:3]:
        if error not in BUILTINS and error not in place.names:
            continue
        for clause, way, needed, weight in _ways(error, place):
            lines = f"try:\n{body}\n{clause}:\n{unit}{way}"
            made = Proposal("guard.attempt", weight, (instead(node, lines),), f"on {error} {shorten(way)}")
            yield from _with(made, needed)


def _ways(error: str, place: Place) -> Iterator[tuple[str, str, tuple[Import, ...], float]]:
    """(except clause, its only line, imports, how likely)."""
    plain = f"except {error}"
    name = _bound_as(place.syntax)
    for text, needed, weight in _errors(place):
        yield plain, f"raise {text} from None", needed, 0.9 * weight
        yield f"{plain} as {name}", f"raise {text} from {name}", needed, weight
        yield plain, f"raise {text}", needed, 0.8 * weight
    if place.hints.asked.raises:
        return
    if place.in_loop is not None:
        yield plain, "continue", (), 0.9
    for wanted in dict.fromkeys(
        c.wanted for c in place.hints.asked.failing if c.wanted and len(c.wanted) < 40
    ):
        if wanted.isidentifier() and wanted not in {"None", "True", "False"}:
            continue
        yield plain, f"return {wanted}", (), 1.0
    yield plain, "return None", (), 0.6
    yield plain, "pass", (), 0.5
    for name_ in place.own_variables:
        if name_.origin == "parameter":
            yield plain, f"return {name_.text}", (), 0.5


@lru_cache(maxsize=32)
def _bound_as(syntax: Syntax) -> str:
    """What the file calls an error that it caught."""
    return next((n.text for n in syntax.root.walk() if n.kind == "as_pattern_target"), "error")


TABLE: Table = {
    "statement": (guards, otherwise, attempted),
    "assert_statement": (unless,),
    "raise_statement": (reworded,),
    "expression_statement": (made_not_raised,),
    "return_statement": (made_not_raised,),
}
