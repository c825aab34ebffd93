"""None where a value is needed, as the failing tests say: a way out before it, a way out right after it was given,
another value in its place, a condition that asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import (
    ATOM,
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    arguments,
    is_value,
    put,
    wrapped,
)
from deskagent.repair.candidates.blocks import after, alone, before
from deskagent.repair.candidates.conditions import tests
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import CLAUSES, block

_NONE = re.compile(r"NoneType|not None\b")
_LOOKED_UP = re.compile(r"'NoneType' object has no attribute '(\w+)'")
# what an error says of None → what would do in its place, the likeliest first
_INSTEAD = (
    (re.compile(r"not subscriptable|item assignment"), ("{}", "()", '""')),
    (re.compile(r"not iterable|has no len|argument of type|must be an iterable"), ("()", "[]", "{}", '""')),
    (re.compile(r"not callable"), ()),
    (re.compile(r"\bstr\b|'str'|string"), ('""',)),
    (re.compile(r"\bint\b|'int'|'float'|number"), ("0",)),
)
_OR, _AND, _COMPARED = (PRECEDENCE[word] for word in ("or", "and", "comparison_operator"))
_PLAIN = frozenset({"identifier", "attribute"})
MAX_NEEDED = 8


def _errors(place: Place) -> list[str]:
    return [error for error in place.hints.examples.errors if _NONE.search(error)]


def _needed(place: Place) -> dict[str, Node]:
    """The names and attributes of the statement that can't be None where they stand, the likeliest first."""
    known = place.memo.get("needed")
    if isinstance(known, dict):
        return known
    errors = _errors(place)
    looked_up = {name for error in errors for name in _LOOKED_UP.findall(error)}
    ranked: list[tuple[float, int, Node]] = []
    for node in place.nodes if errors else ():
        if node.kind not in _PLAIN or node.text in {"self", "cls"}:
            continue
        strength = _strength(node, looked_up)
        if strength:
            ranked.append((-strength, node.start, node))
    found: dict[str, Node] = {}
    for _, _, node in sorted(ranked, key=lambda row: row[:2]):
        name = place.names_at(node).get(node.text.partition(".")[0])
        if name is not None and name.origin not in {"definition", "import"}:
            found.setdefault(node.text, node)
    kept = dict(list(found.items())[:MAX_NEEDED])
    place.memo["needed"] = kept
    return kept


def _strength(node: Node, looked_up: set[str]) -> float:
    parent = node.parent
    if parent is None or not (is_value(node) or parent.kind == "attribute"):
        return 0.0
    if parent.kind == "attribute" and node.field == "object":
        attribute = parent.get("attribute")
        if looked_up:
            return 2.0 if attribute is not None and attribute.text in looked_up else 0.0
        return 0.3
    if looked_up:
        return 0.0
    if parent.kind == "subscript":
        return 1.0 if node.field == "value" else 0.3
    if parent.kind in {"for_statement", "for_in_clause"}:
        return 1.0 if node.field == "right" else 0.0
    if parent.kind in {"list_splat", "dictionary_splat", "comparison_operator", "binary_operator"}:
        return 0.9
    return 0.7 if parent.kind == "argument_list" else 0.0


def _ways(place: Place) -> list[tuple[str, float]]:
    """How to leave without the value: as the function does elsewhere, with None, with an empty one."""
    found: dict[str, float] = {}
    if place.in_loop is not None:
        found["continue"] = 0.7
    generator = False
    for node in place.scope_nodes:
        generator |= node.kind == "yield" and node.named
        if node.kind == "return_statement" and node.parts and node.end - node.start < 30:
            value = node.parts[0]
            if value.kind not in _PLAIN | {"call", "subscript"}:
                found.setdefault(node.text, 0.6)
    if generator:
        return [*found.items(), ("return", 0.9)]
    found.setdefault("return None", 1.0)
    found.setdefault("return", 0.6)
    for text, weight in (("False", 0.4), ("[]", 0.4), ('""', 0.4), ("{}", 0.3)):
        found.setdefault(f"return {text}", weight)
    return list(found.items())


def way_out(node: Node, place: Place) -> Iterator[Proposal]:
    """`if x is None: return None` before the statement that needs `x`, or right after `x` was given its value."""
    if place.function is None or node.kind in CLAUSES or node.kind == "function_definition":
        return
    for rank, (text, _) in enumerate(_needed(place).items()):
        given = _given(text, node, place)
        for way, share in _ways(place):
            for condition, fit in ((f"{text} is None", 1.0), (f"not {text}", 0.5)):
                lines = f"if {condition}:\n{place.syntax.unit}{way}"
                weight = share * fit * (1.0 if not rank else 0.6)
                made = [before("none.out", node, lines, weight)] if alone(node) else []
                if given is not None and alone(given):
                    made.append(after("none.out", given, lines, weight * 0.9))
                yield from (one for one in made if one is not None)


def _given(text: str, node: Node, place: Place) -> Node | None:
    """The last statement before `node` that gives `text` a value of its own."""
    last = None
    for other in place.scope_nodes:
        if other.start >= node.start:
            break
        if other.kind == "assignment" and (left := other.get("left")) is not None and left.text == text:
            last = other.parent
    return last if last is not None and last.kind == "expression_statement" else None


def in_place(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `(x or ())`, `x.y` → `x.y if x is not None else None`, where `x` was None."""
    needed = _needed(place)
    if needed.get(node.text) is None or not (
        is_value(node) or (node.parent and node.parent.kind == "attribute")
    ):
        return
    errors = " ".join(_errors(place))
    for pattern, values in _INSTEAD:
        if pattern.search(errors):
            for rank, value in enumerate(values):
                yield put("none.instead", node, f"{node.text} or {value}", 1.0 / (1 + rank), _OR)
            break
    else:
        yield put("none.instead", node, f'{node.text} or ""', 0.3, _OR)
    top = node
    while top.parent is not None and top.parent.kind in {"attribute", "subscript", "call"}:
        if top.field in {"subscript", "arguments"}:
            break
        top = top.parent
    if top is not node and is_value(top):
        for way, weight in (("None", 1.0), ('""', 0.3), ("()", 0.2)):
            yield put("none.instead", top, f"{top.text} if {node.text} is not None else {way}", weight, 0)
            yield put("none.instead", top, f"{top.text} if {node.text} else {way}", weight * 0.6, 0)


def asked(node: Node, place: Place) -> Iterator[Proposal]:
    """`if a:` → `if a and self.b is not None:`, for what the branch takes and the tests saw as None."""
    body = block(node) or node.get("consequence")
    if body is None:
        return
    shown = any(
        "None" in actual and "None" not in expected for expected, actual in place.hints.examples.texts
    )
    strength = 1.0 if shown or _errors(place) else 0.35
    for test in tests(node):
        found: dict[str, float] = {}
        for part in body.walk():
            if part.kind not in _PLAIN or part.text in {"self", "cls"} or len(found) > 12:
                continue
            name = place.names.get(part.text.partition(".")[0])
            if (
                name is None
                or name.origin in {"definition", "import"}
                or not (is_value(part) or _put_in(part))
            ):
                continue
            found.setdefault(
                part.text, strength * (1.0 if _put_in(part) or part.kind == "attribute" else 0.5)
            )
        for text, weight in found.items():
            if f"{text} is" not in test.text:
                new = f"{wrapped(test, _AND)} and {text}"
                yield put("none.asked", test, f"{new} is not None", weight, _AND)
                if text not in test.text:
                    yield put("none.asked", test, new, weight * 0.6, _AND)


def _put_in(node: Node) -> bool:
    return node.parent is not None and node.parent.kind == "interpolation"


def drop_none(node: Node, place: Place) -> Iterator[Proposal]:
    """`[f(x) for x in xs]` → `… if x is not None`."""
    clause = next((part for part in node.parts if part.kind == "for_in_clause"), None)
    left = clause.get("left") if clause is not None else None
    if clause is None or left is None or any(part.kind == "if_clause" for part in node.parts):
        return
    shown = _errors(place) or any(
        isinstance(actual, (list, tuple)) and None in actual and isinstance(expected, (list, tuple))
        and None not in expected for expected, actual in place.hints.examples.pairs
    )  # fmt: skip
    if shown and left.kind == "identifier":
        for text, weight in ((f" if {left.text} is not None", 1.0), (f" if {left.text}", 0.7)):
            yield Proposal("none.asked", weight, ((clause.end, clause.end, text),), f"only{text}")


def default_of_attribute(node: Node, place: Place) -> Iterator[Proposal]:
    """`x.name` → `getattr(x, "name", None)`, where an error says that there may be no such attribute."""
    attribute, owner = node.get("attribute"), node.get("object")
    if attribute is None or owner is None or not is_value(node) or node.parent is None:
        return
    if attribute.text not in place.hints.missing or place.hints.none_attributes & {attribute.text}:
        return
    for default, weight in (("None", 1.0), ('""', 0.3), ("False", 0.3), ("()", 0.2)):
        new = f'getattr({owner.text}, "{attribute.text}", {default})'
        yield put("none.instead", node, new, weight, ATOM)


def default_of_getattr(node: Node, place: Place) -> Iterator[Proposal]:
    """`getattr(x, name)` → `getattr(x, name, None)`, where an error says that an attribute isn't there."""
    given = arguments(node)
    function = node.get("function")
    if function is None or function.text != "getattr" or len(given) != 2:
        return
    if "AttributeError" in place.hints.exceptions:
        at = given[1].end
        yield Proposal("none.instead", 1.0, ((at, at, ", None"),), "getattr with None where there is none")


_IN_PLACE = (in_place,)
TABLE: Table = {
    "statement": (way_out,),
    "identifier": _IN_PLACE,
    "attribute": (in_place, default_of_attribute),
    "call": (default_of_getattr,),
    "if_statement": (asked,),
    "elif_clause": (asked,),
    "list_comprehension": (drop_none,),
    "generator_expression": (drop_none,),
}
