"""The right attribute of the wrong object: `self.limit` for `self.options.limit`, `cls` for `self`, the class above for
the object's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import ATOM, Place, Proposal, Table, is_value, put, similarity
from deskagent.repair.candidates.known import decorators, owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import Syntax

MAX_OWNERS, MAX_HELD, MAX_LINE, MAX_LENGTH = 16, 12, 6, 40
_CHAIN = frozenset({"identifier", "attribute"})


@lru_cache(maxsize=16)
def _uses(syntax: Syntax) -> dict[str, dict[str, int]]:
    """Attribute → the short chains that it is looked up on in the file, with how often."""
    found: dict[str, dict[str, int]] = {}
    for node in syntax.root.walk():
        attribute, owner = (
            (node.get("attribute"), node.get("object")) if node.kind == "attribute" else (None, None)
        )
        if attribute is None or owner is None or owner.kind not in _CHAIN or not _is_chain(owner):
            continue
        if owner.end - owner.start <= MAX_LENGTH:
            of = found.setdefault(attribute.text, {})
            of[owner.text] = of.get(owner.text, 0) + 1
    return found


def _is_chain(node: Node | None) -> bool:
    while node is not None and node.kind == "attribute":
        node = node.get("object")
    return node is not None and node.kind == "identifier"


@lru_cache(maxsize=64)
def _held(owner: Node) -> dict[str, float]:
    """`self.x` texts on which something is looked up in a class or in those above it in the file, and properties."""
    found: dict[str, float] = {}
    for near, one in enumerate(_line(owner)):
        for node in one.walk():
            if node.kind == "attribute" and node.field == "object" and node.text.startswith("self."):
                if node.text.count(".") == 1:
                    found.setdefault(node.text, 0.6 if not near else 0.4)
            elif node.kind == "decorated_definition":
                function = node.get("definition")
                name = function.get("name") if function is not None else None
                if function is None or name is None:
                    continue
                if any("property" in text for text in decorators(function)):
                    found.setdefault(f"self.{name.text}", 0.5)
    return dict(sorted(found.items(), key=lambda item: -item[1])[:MAX_HELD])


def _line(owner: Node) -> list[Node]:
    """A class and those of the file that it is made from, the nearest first."""
    known: dict[str, Node] = {}
    for node in owner.syntax.root.walk():
        name = node.get("name") if node.kind == "class_definition" else None
        if name is not None:
            known.setdefault(name.text, node)
    found = [owner]
    for one in found:  # grows meanwhile
        bases = one.get("superclasses")
        for part in bases.parts if bases is not None else ():
            above = known.get(part.text)
            if above is not None and above not in found and len(found) < MAX_LINE:
                found.append(above)
    return found


def owners(node: Node, place: Place) -> Iterator[Proposal]:
    """`x.a` → `self.x.a`, `y.a`, `self.a`, `x.y.a`: another holder of the same attribute."""
    attribute, owner = node.get("attribute"), node.get("object")
    if attribute is None or owner is None or not _is_chain(owner):
        return
    missing = attribute.text in place.hints.missing
    said = 1.0 if missing else 0.2
    found: dict[str, float] = {}
    for text, count in _uses(place.syntax).get(attribute.text, {}).items():
        found[text] = 0.7 + 0.05 * min(count, 4)
    for name in place.own_variables:
        if attribute.text in name.attributes:
            found.setdefault(name.text, 0.7)
    if "self" in place.names and owner.text != "self" and _defines(place, attribute.text):
        found.setdefault("self", 0.8)
    around = owner_of(place.statement)
    if (
        missing and around is not None and "self" in place.names
    ):  # any thing at hand may be the one that has it
        for text, weight in _held(around).items():
            found.setdefault(text, weight)
    if owner.text in {"self", "cls"}:
        other = "cls" if owner.text == "self" else "self"
        found[other] = 0.6
        if owner.text == "self":
            found["type(self)"] = 0.4
            found["self.__class__"] = 0.3
    ranked = sorted(found.items(), key=lambda item: -item[1])
    made = 0
    for text, weight in ranked:
        root = text.partition(".")[0].partition("(")[0]
        if text == owner.text or root not in {*place.names, "type"} or made >= MAX_OWNERS:
            continue
        made += 1
        alike = 0.2 * similarity(text.rpartition(".")[2], owner.text.rpartition(".")[2])
        yield put("member.owner", owner, text, min(1.0, said * weight + alike), ATOM)


def _defines(place: Place, name: str) -> bool:
    """Whether the class around has a method or property of that name, or sets it."""
    owner = owner_of(place.statement)
    return owner is not None and f"self.{name}" in _defined(owner)


@lru_cache(maxsize=64)
def _defined(owner: Node) -> frozenset[str]:
    """Texts of what a class defines on its objects: `self.x`."""
    found = {f"self.{n.text}" for function in owner.walk() if function.kind == "function_definition"
             if (n := function.get("name")) is not None}  # fmt: skip
    set_ = {n.text for n in owner.walk() if n.kind == "attribute" and n.field == "left"}
    return frozenset(found | set_)


def above(node: Node, place: Place) -> Iterator[Proposal]:
    """`self.f(…)` → `super().f(…)` and the other way round, in a method of that name."""
    function, attribute, owner = place.function, node.get("attribute"), node.get("object")
    own = function.get("name") if function is not None else None
    if own is None or attribute is None or owner is None:
        return
    if owner.text == "self" and own.text == attribute.text:
        yield put("member.owner", owner, "super()", 1.0)
    elif owner.text.startswith("super("):
        yield put("member.owner", owner, "self", 0.5 if own.text != attribute.text else 0.05)


def own_class(node: Node, place: Place) -> Iterator[Proposal]:
    """`Leaf(…)` → `type(self)(…)`, `cls(…)`, in a method of `Leaf`; `type(self)` → `Leaf`."""
    owner = owner_of(place.statement)
    name = owner.get("name") if owner is not None else None
    if name is None or place.function is None:
        return
    if node.kind == "identifier":
        parent = node.parent
        if node.text != name.text or parent is None or parent.kind not in {"call", "attribute"}:
            return
        if parent.kind == "call" and node.field != "function":
            return
        if "cls" in place.names:
            yield put("member.owner", node, "cls", 1.0)
        elif "self" in place.names:
            yield put("member.owner", node, "type(self)", 0.6)
            yield put("member.owner", node, "self.__class__", 0.6)
    elif node.text in {"type(self)", "self.__class__"} and is_value(node):
        yield put("member.owner", node, name.text, 0.5)


TABLE: Table = {
    "attribute": (owners, above, own_class),
    "call": (own_class,),
    "identifier": (own_class,),
}
