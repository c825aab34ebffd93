"""A value with another to fall back on: `x` → `x or y`, `y` being what the file takes elsewhere in its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import (
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    put,
    similarity,
    wrapped,
)
from deskagent.repair.candidates.known import free_names
from deskagent.repair.nodes import Node
from deskagent.repair.scope import BUILTINS
from deskagent.repair.syntax import Syntax

MAX_LENGTH, MAX_MADE = 60, 12
_OR = PRECEDENCE["or"]
_VALUE = frozenset({"identifier", "attribute", "call", "subscript"})
_EMPTY = {"str": '""', "list": "[]", "tuple": "()", "dict": "{}", "int": "0", "bool": "False"}


@lru_cache(maxsize=16)
def _instead(syntax: Syntax) -> dict[str, list[Node]]:
    """Last name of a value (`port` of `self._port`) → what else is given to such a name, or taken where it is false."""
    found: dict[str, list[Node]] = {}
    for node in syntax.root.walk():
        pair = _pair(node)
        if pair is None or pair[0] is None or pair[1] is None or pair[0].kind not in _VALUE:
            continue
        kind, length = pair[1].kind, pair[1].end - pair[1].start
        if length <= MAX_LENGTH and (kind in _VALUE - {"identifier"} or pair[1].text.isupper()):
            found.setdefault(_last(pair[0].text), []).append(pair[1])
    return found


def _pair(node: Node) -> tuple[Node | None, Node | None] | None:
    """A name and what it is given, or what is taken where it is false."""
    if node.kind in {"default_parameter", "keyword_argument"}:
        return node.get("name"), node.get("value")
    token = node.get("operator") if node.kind == "boolean_operator" else None
    if node.kind == "assignment" or (token is not None and token.text == "or"):
        return node.get("left"), node.get("right")
    return None


def _last(text: str) -> str:
    return text.partition("(")[0].rpartition(".")[2].strip("_")


def fall_back(node: Node, place: Place) -> Iterator[Proposal]:
    """`return self._port` → `return self._port or PORTS.get(self.scheme)`; an empty value where None came."""
    value = node.parts[0] if node.kind == "return_statement" and node.parts else node.get("right")
    if value is None or value.kind not in _VALUE or value.end - value.start > MAX_LENGTH:
        return
    came_none = [e for e, a in place.hints.examples.pairs if a is None and e is not None]
    strength = 1.0 if came_none else 0.3
    found: dict[str, float] = {}
    for expected in came_none[:3]:
        if type(expected).__name__ in _EMPTY and not expected:
            found[_EMPTY[type(expected).__name__]] = 1.0
    for name, others in _instead(place.syntax).items():
        alike = similarity(name, _last(value.text))
        for other in others if alike >= 0.5 else ():
            if other.text == value.text or value.text in other.text:
                continue
            if all(used in place.names or used in BUILTINS for used in free_names(other)):
                found.setdefault(wrapped(other, _OR), alike)
    for text, weight in sorted(found.items(), key=lambda item: -item[1])[:MAX_MADE]:
        own = value.text
        yield put("absent.otherwise", value, f"{own} or {text}", strength * weight, _OR)
        new = f"{own} if {own} is not None else {text}"
        yield put("absent.otherwise", value, new, strength * weight * 0.6, 0)


def divided(node: Node, place: Place) -> Iterator[Proposal]:
    """`a / b` → `a / b if b else 0`, where a test divides by nothing."""
    token, right, parent = node.get("operator"), node.get("right"), node.parent
    if token is None or right is None or parent is None or token.text not in {"/", "//", "%"}:
        return
    if "ZeroDivisionError" not in place.hints.exceptions:
        return
    inner = right.parts[0] if right.kind == "parenthesized_expression" and right.parts else right
    given = arguments(inner) if inner.kind == "call" and called_name(inner) == "len" else []
    asked = given[0].text if len(given) == 1 else inner.text
    for text, weight in (("0", 1.0), ("0.0", 0.8), ("None", 0.4), ("1", 0.2)):
        yield put("absent.otherwise", node, f"{node.text} if {asked} else {text}", weight, 0)


_ROWS = (fall_back,)
TABLE: Table = {"return_statement": _ROWS, "assignment": _ROWS, "binary_operator": (divided,)}
