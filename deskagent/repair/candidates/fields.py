"""Fields of the file's classes, for names that seem to hold such an object."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import Place, Proposal, Table, is_value, put, similarity
from deskagent.repair.nodes import Node
from deskagent.repair.scope import Name
from deskagent.repair.syntax import Syntax


@lru_cache(maxsize=32)
def classes(syntax: Syntax) -> dict[str, frozenset[str]]:
    """Class → its fields and properties: annotated, given to `self`, or in __slots__ or a named tuple."""
    found: dict[str, frozenset[str]] = {}
    for node in syntax.root.walk():
        body = node.get("body") if node.kind == "class_definition" else None
        name = node.get("name") if body is not None else None
        if body is None or name is None:
            continue
        fields: set[str] = set()
        for part in body.parts:
            value = part.parts[0] if part.kind == "expression_statement" and part.parts else None
            left = value.get("left") if value is not None and value.kind == "assignment" else None
            if left is not None and left.kind == "identifier" and not left.text.startswith("_"):
                fields.add(left.text)
            if part.kind == "decorated_definition" and "property" in part.children[0].text:
                definition = part.get("definition")
                own = definition.get("name") if definition is not None else None
                fields |= {own.text} if own is not None else set()
        for part in body.walk():
            left = part.get("left") if part.kind == "assignment" else None
            owner, attribute = (
                (left.get("object"), left.get("attribute")) if left is not None else (None, None)
            )
            if owner is not None and attribute is not None and owner.text == "self":
                fields.add(attribute.text)
        if fields:
            found[name.text] = frozenset(fields)
    return found


def fields_of(name: Name, place: Place) -> frozenset[str]:
    """Fields of the class whose object `name` seems to be: made by it, or by the attributes used."""
    known = classes(place.syntax)
    made = known.get(name.initial.partition("(")[0])
    if made is not None:
        return made
    if not name.attributes:
        return frozenset()
    fitting = [
        fields for fields in known.values() if len(name.attributes & fields) * 2 > len(name.attributes)
    ]
    return max(fitting, key=lambda fields: len(fields & name.attributes), default=frozenset())


def field(node: Node, place: Place) -> Iterator[Proposal]:
    """A value → a field of an object in scope: `now` → `job.due`."""
    parent = node.parent
    if not is_value(node) or parent is None or parent.kind == "attribute":
        return
    if node.kind == "attribute" and node.end - node.start > 40:
        return
    last = node.text.rpartition(".")[2].strip("_")
    beside = {n.text.partition(".")[0] for n in parent.parts if n is not node and n.kind == "attribute"}
    for name in place.own_variables:
        for attribute in sorted(fields_of(name, place)):
            text = f"{name.text}.{attribute}"
            if text == node.text or any(text == part.text for part in parent.parts):
                continue
            weight = 0.35 + 0.4 * similarity(attribute, last) + (0.25 if name.text in beside else 0.0)
            yield put("name.field", node, text, min(1.0, weight))


TABLE: Table = {"identifier": (field,), "attribute": (field,)}
