"""Conditions for a way out that the code itself speaks for: what other functions ask before they go on, how `self` may
stand, what a statement can't take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from deskagent.repair.candidates.base import Place, arguments, called_name, similarity
from deskagent.repair.candidates.handed import handed
from deskagent.repair.candidates.known import first_values, free_names, owner_of, used
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS
from deskagent.repair.syntax import Syntax, block, function_of

MAX_NAMES = 8


def collections(place: Place) -> Iterator[tuple[str, float]]:
    """Parameters and locals beside the file's tables and the class's attributes: `x not in TABLE`, `n > self.size`."""
    variables = [n for n in place.own_variables if n.origin in {"parameter", "local", "loop"}][:MAX_NAMES]
    here = {n.text for n in place.nodes if n.kind == "identifier"}
    tables = [
        n.text
        for n in place.names.values()
        if n.origin == "module" and n.kinds & {"dict", "set", "list", "tuple"}
    ]
    owner = owner_of(place.statement) if "self" in place.names else None
    inside = sorted(used(place.function)) if place.function is not None else []
    values = first_values(owner) if owner is not None else {}
    attributes = list(dict.fromkeys([*inside, *values, *(_assigned(owner) if owner is not None else ())]))[
        :12
    ]
    for name in variables:
        near = (1.0 if name.text in here else 0.6) * (1.0 if name.origin == "parameter" else 0.7)
        if not name.kinds & (NUMBERS | {"list", "dict", "set"}):
            for table in [
                *tables[:4],
                *(a for a in attributes if values.get(a, "{}") in {"{}", "[]", "set()", "dict()"}),
            ]:
                mentioned = 1.0 if place.function is not None and table in place.function.text else 0.6
                yield f"{name.text} not in {table}", 0.6 * near * mentioned
                yield f"{name.text} in {table}", 0.5 * near * mentioned
        if name.could_be(set(NUMBERS)) and not name.attributes and not name.called:
            for attribute in attributes:
                kin = 0.35 + 0.4 * similarity(name.text, attribute[5:])
                for form in (">", "<", ">=", "<="):
                    yield f"{name.text} {form} {attribute}", kin * near * (1.0 if form == ">" else 0.7)
        yield f"{name.text} is None", 0.35 * near
        yield f"not {name.text}", 0.35 * near
    shared = sorted(_shared(owner)) if owner is not None else []
    for name in variables:
        if name.origin != "parameter" or name.kinds & (NUMBERS | {"str", "list", "dict", "set"}):
            continue
        mine = [*dict.fromkeys([*(a for a in shared), *sorted(name.attributes)])][:8]
        beside = name.attributes & {a[5:] for a in attributes}
        for one in mine:
            yield f"self.{one} != {name.text}.{one}", 0.9 if one in beside else 0.45
            for other in mine:
                if one != other:
                    yield f"self.{one} != {name.text}.{other}", 0.45
        title = owner.get("name") if owner is not None else None
        if title is not None and (name.text in {"other", "another", "rhs"} or name.attributes):
            yield f"not isinstance({name.text}, {title.text})", 0.5


@lru_cache(maxsize=64)
def _assigned(owner: Node) -> tuple[str, ...]:
    """`self.x` that the class gives a value, each once."""
    found: dict[str, None] = {}
    for node in owner.walk():
        left = node.get("left") if node.kind == "assignment" else None
        if left is not None and left.kind == "attribute" and left.text.startswith("self."):
            found[left.text] = None
    return (*found,)


@lru_cache(maxsize=64)
def _shared(owner: Node) -> Mapping[str, None]:
    """Attributes that methods of the class compare with those of another: `self.a != other.a`; those first that do."""
    found: dict[str, None] = {}
    for node in owner.walk():
        if node.kind != "comparison_operator":
            continue
        names = [part.get("attribute") for part in node.walk() if part.kind == "attribute"]
        owners = {part.get("object").text for part in node.walk()  # type: ignore[union-attr]
                  if part.kind == "attribute" and part.get("object") is not None}  # fmt: skip
        if "self" in owners and len(owners) > 1:
            found |= {name.text: None for name in names if name is not None}
    return found


def own(place: Place) -> Iterator[tuple[str, float]]:
    """What `self` is like: closed, empty, not started, full."""
    owner = owner_of(place.statement) if "self" in place.names else None
    if owner is None:
        return
    inside = place.function.text if place.function is not None else ""
    for attribute, first in first_values(owner).items():
        near = 1.0 if attribute in inside else 0.6
        if first in {"True", "False"}:
            yield (attribute if first == "False" else f"not {attribute}"), 0.9 * near
            yield (attribute if first == "True" else f"not {attribute}"), 0.4 * near
        elif first == "None":
            yield f"{attribute} is None", 0.8 * near
            yield f"{attribute} is not None", 0.5 * near
            yield f"not {attribute}", 0.35 * near
        elif first in {"{}", "[]", "set()", "dict()", "list()", "deque()", "''", '""'}:
            yield f"not {attribute}", 0.9 * near
            yield f"len({attribute}) == 0", 0.3 * near
            for other in _assigned(owner):
                if any(word in other for word in ("size", "limit", "capacity", "max")):
                    yield f"len({attribute}) >= {other}", 0.7
        elif first.isdigit():
            yield f"{attribute} <= 0", 0.3 * near
            yield f"{attribute} == 0", 0.5 * near


def siblings(place: Place) -> Iterator[tuple[str, float]]:
    """Conditions of other functions' guards, their names put for parameters here."""
    function = place.function
    owner = owner_of(place.statement)
    mine = list(handed(place).parameters)
    for node, condition in _guards(place.syntax):
        if function_of(node) is function:
            continue
        near = 0.9 if owner is not None and owner_of(node) is owner else 0.6
        lost = [n for n in sorted(free_names(condition)) if n not in place.names]
        if not lost:
            yield " ".join(condition.text.split()), near
        elif len(lost) == 1:
            ranked = sorted(mine, key=lambda p: -similarity(p, lost[0]))[:2]
            for name in ranked:
                yield _put(condition, lost[0], name), near * (0.6 + 0.3 * similarity(name, lost[0]))


@lru_cache(maxsize=32)
def _guards(syntax: Syntax) -> tuple[tuple[Node, Node], ...]:
    """The file's short ways out under a condition: (statement, condition)."""
    found = []
    for node in syntax.statements:
        body = block(node) if node.kind == "if_statement" else None
        condition = node.get("condition")
        if body is None or condition is None or len(body.parts) != 1 or node.end - node.start > 200:
            continue
        if body.parts[0].kind in {"raise_statement", "return_statement"} and function_of(node) is not None:
            found.append((node, condition))
    return tuple(found[:60])


def _put(node: Node, old: str, new: str) -> str:
    text, at, utf8 = "", node.start, node.syntax.source.utf8
    for part in node.walk():
        if part.kind == "identifier" and part.text == old and part.field != "attribute":
            text += utf8[at : part.start].decode("utf-8", "replace") + new
            at = part.end
    return " ".join((text + utf8[at : node.end].decode("utf-8", "replace")).split())


def stood(place: Place) -> Iterator[tuple[str, float]]:
    """What the statement can't stand: a key that isn't there, 0 as a divisor, nothing to take from."""
    for node in place.nodes:
        if node.kind == "subscript" and node.field != "left":
            value, index = node.get("value"), node.get("subscript")
            if value is None or index is None or index.kind == "slice" or value.kind == "string":
                continue
            if index.kind in {"integer", "unary_operator"}:
                yield f"not {value.text}", 0.8
            else:
                yield f"{index.text} not in {value.text}", 0.8
                yield f"{index.text} >= len({value.text})", 0.5
        elif node.kind == "binary_operator" and (sign := node.get("operator")) is not None:
            right = node.get("right")
            if (
                sign.text in {"/", "//", "%"}
                and right is not None
                and right.kind not in {"integer", "float", "string"}
            ):
                if right.kind == "call" and called_name(right) in {"len", "sum"} and arguments(right):
                    yield f"not {arguments(right)[0].text}", 0.9
                yield f"{right.text} == 0", 0.9
                yield f"not {right.text}", 0.6
        elif node.kind == "call":
            name, given = called_name(node), arguments(node)
            if name in {"max", "min", "mean", "next", "reduce"} and len(given) == 1:
                yield f"not {given[0].text}", 0.9
            function = node.get("function")
            owner = function.get("object") if function is not None and function.kind == "attribute" else None
            if owner is not None and name in {"pop", "popleft", "popitem"}:
                yield f"not {owner.text}", 0.9
