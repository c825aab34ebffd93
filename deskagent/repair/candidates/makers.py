"""What `__init__` and overriding methods forget: a parameter that is never kept, the base class's own method."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import after, alone, before, body_of, first_in
from deskagent.repair.candidates.known import functions_in, owner_of, used
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import Syntax, block

_PLAIN_BASES = frozenset(
    {"object", "Generic", "Protocol", "ABC", "Enum", "NamedTuple", "TypedDict", "abc.ABC"}
)
_EMPTY = ("None", "[]", "{}", "False", "0")


def _method(owner: Node, name: str) -> Node | None:
    return next((f for f in functions_in(owner) if (n := f.get("name")) is not None and n.text == name), None)


def _parameters(function: Node) -> list[tuple[str, str]]:
    """(name, how it is handed on) of every parameter but the first."""
    found, keyword = [], False
    signature = function.get("parameters")
    for part in signature.parts if signature is not None else ():
        if part.kind == "keyword_separator":
            keyword = True
        elif part.kind in {"list_splat_pattern", "dictionary_splat_pattern"}:
            found.append((part.text.lstrip("*"), part.text))
            keyword = True
        else:
            inner = part.get("name") or (part if part.kind == "identifier" else next(iter(part.parts), None))
            if inner is not None and inner.kind == "identifier":
                found.append((inner.text, f"{inner.text}={inner.text}" if keyword else inner.text))
            elif inner is not None and part.kind == "typed_parameter":
                found.append((inner.text.lstrip("*"), inner.text))
    return found[1:]


def kept(node: Node, place: Place) -> Iterator[Proposal]:
    """`self.x = x` in `__init__`, for a parameter that is not kept; also from where `self.x` was not found."""
    owner, function = owner_of(node), place.function
    maker = _method(owner, "__init__") if owner is not None else None
    if owner is None or maker is None or function is None or node.kind == "class_definition":
        return
    lost = place.hints.missing & {text[5:] for text in used(owner)}
    asking = function is not maker and any(
        n.kind == "attribute" and n.text.startswith("self.") and n.text[5:] in lost for n in place.nodes
    )
    if function is not maker and not asking:
        return
    held = {
        left.text
        for n in maker.walk()
        if n.kind == "assignment" and (left := n.get("left")) is not None and left.kind == "attribute"
    }
    names = [name for name, _ in _parameters(maker)]
    read = {n.text for n in maker.walk() if n.kind == "identifier" and n.row > maker.row}
    for name in names:
        for attribute in (f"self.{name}", f"self._{name}"):
            if attribute in held or f"self.{name}" in held or f"self._{name}" in held:
                continue
            wanted = attribute[5:] in lost
            weight = 1.0 if wanted else 0.6 if attribute in used(owner) else 0.15 if name not in read else 0.0
            if weight:
                yield from _kept(maker, names, name, f"{attribute} = {name}", weight)
    for name in sorted(lost - set(names) - {n.lstrip("_") for n in names}):
        if f"self.{name}" not in held and _method(owner, name) is None:
            for index, text in enumerate(_EMPTY):
                yield from _kept(maker, [], "", f"self.{name} = {text}", 0.7 * 0.8**index)


def _kept(maker: Node, names: list[str], name: str, line: str, weight: float) -> Iterator[Proposal]:
    """`line` where the order of the parameters has it, and last."""
    parts = body_of(maker)
    own = [part for part in parts if part.kind == "expression_statement" and part.text.startswith("self.")]
    earlier = names[: names.index(name)] if name in names else []
    near = [p for p in own if (_value(p) or "?") in earlier]
    spots: list[Proposal | None] = []
    if near:
        spots.append(after("state.kept", near[-1], line, weight))
    elif own and name:
        spots.append(before("state.kept", own[0], line, weight))
    if own:
        spots.append(after("state.kept", own[-1], line, 0.8 * weight))
    if parts and alone(parts[-1]):
        spots.append(after("state.kept", parts[-1], line, 0.6 * weight))
    spots.append(first_in("state.kept", maker, line, 0.6 * weight))
    yield from (made for made in spots if made is not None)


def _value(statement: Node) -> str | None:
    value = statement.parts[0] if statement.parts else None
    right = value.get("right") if value is not None and value.kind == "assignment" else None
    return right.text if right is not None else None


@lru_cache(maxsize=64)
def _base(syntax: Syntax, owner: Node) -> tuple[bool, Node | None]:
    """Whether a class has a base of its own making, and that class where it stands in the file."""
    bases = owner.get("superclasses")
    texts = (
        [b.text for b in bases.parts if b.kind in {"identifier", "attribute", "subscript"}] if bases else []
    )
    texts = [t for t in texts if t.partition("[")[0] not in _PLAIN_BASES]
    for part in syntax.root.walk() if texts else ():
        name = part.get("name") if part.kind == "class_definition" else None
        if name is not None and name.text in texts:
            return True, part
    return bool(texts), None


def base(node: Node, place: Place) -> Iterator[Proposal]:
    """`super().__init__(…)` in a method that another class's stands behind and that never calls it."""
    function = node if node.kind == "function_definition" else place.function
    owner = owner_of(function) if function is not None else None
    name = function.get("name") if function is not None else None
    body = block(function) if function is not None else None
    if function is None or owner is None or name is None or body is None:
        return
    if not (node is function or node.parent is body) or _calls_base(body, name.text):
        return
    derived, found = _base(place.syntax, owner)
    there = _method(found, name.text) if found is not None else None
    if not derived or (found is not None and there is None) or (found is None and name.text != "__init__"):
        return
    own = _parameters(function)
    if function.parent is not None and function.parent.kind == "decorated_definition":
        return
    known = {n for n, _ in _parameters(there)} if there is not None else set()
    passed = [text for n, text in own if n in known or (found is None and text.startswith("*"))]
    exact = [n for n, _ in own] == [n for n, _ in _parameters(there)] if there is not None else False
    calls = dict.fromkeys([f"super().{name.text}({', '.join(passed)})", f"super().{name.text}()"])
    if found is None and own:
        calls[f"super().{name.text}({', '.join(text for _, text in own)})"] = None
    gives = there is not None and any(n.kind == "return_statement" and n.parts for n in there.walk())
    lost = 0.3 if place.hints.missing else 0.0
    lost -= 0.0 if name.text == "__init__" else 0.4
    for index, call in enumerate(calls):
        weight = (0.7 + lost) * (1.0 if index == 0 or exact else 0.6)
        made = (
            first_in("statement.super", function, call, weight),
            after("statement.super", body.parts[-1], f"return {call}" if gives else call, 0.6 * weight)
            if body.parts and body.parts[-1].kind not in {"return_statement", "raise_statement"}
            else None,
        )
        yield from (proposal for proposal in made if proposal is not None)


def _calls_base(body: Node, name: str) -> bool:
    return any(
        n.kind == "attribute" and n.text.endswith(f".{name}") and n.field == "function" for n in body.walk()
    )


TABLE: Table = {"statement": (kept, base)}
