"""Names: another variable, another member or method, another function of the file."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, shorten, similarity
from deskagent.repair.languages.fit import is_value, level, put
from deskagent.repair.languages.place import Place
from deskagent.repair.nodes import Node


def variable(node: Node, place: Place) -> Iterator[Proposal]:
    """Another variable that can be seen here and may hold the same kind of thing."""
    target = _target(node, place)
    if not is_value(node, place) and not target:
        return
    kinds = place.kinds(node)
    known = place.names.get(node.text)
    if known is not None and known.origin == "definition":
        return
    for name in place.variables:
        if name.text == node.text or (kinds and name.kinds and not kinds & name.kinds):
            continue
        if target and name.origin == "module":
            continue
        near = {"parameter": 1.0, "local": 1.0, "outer": 0.7}.get(name.origin, 0.35)
        unused = 1.3 if name.reads == 0 else 1.0
        weight = min(
            1.0, near * unused * (0.45 + 0.55 * similarity(name.text, node.text)) * (0.5 if target else 1.0)
        )
        if name.called and not name.kinds:
            weight *= 0.5
        yield put("name.variable", node, name.text, weight, place)


def _target(node: Node, place: Place) -> bool:
    """Whether `node` is given a value by a plain assignment, so that another name could be meant."""
    parent = node.parent
    return parent is not None and node.field == "left" and parent.kind == "assignment_expression"


def shorthand(node: Node, place: Place) -> Iterator[Proposal]:
    """`{a}` → `{a: b}`."""
    for name in place.own_variables:
        if name.text != node.text:
            weight = 0.4 + 0.5 * similarity(name.text, node.text)
            yield put("name.variable", node, f"{node.text}: {name.text}", weight, place)


def function(node: Node, place: Place) -> Iterator[Proposal]:
    """A call of another function of the file, or of one with a like name of the language."""
    called = node.get("function")
    if called is None or called.kind != "identifier":
        return
    for new, weight in place.grammar.words.get(called.text, ()):
        yield put("name.builtin", called, new, weight, place)
    for name in place.names.values():
        if name.origin == "definition" and name.text != called.text:
            weight = 0.2 + 0.8 * similarity(name.text, called.text)
            yield put("name.function", called, name.text, weight, place)


def member(node: Node, place: Place) -> Iterator[Proposal]:
    """`a.push` → `a.unshift`; `a.width` → `a.height` where the file has both."""
    kind, object_field, name_field = place.grammar.member
    name, holder = node.get(name_field), node.get(object_field)
    if name is None or holder is None:
        return
    for new, weight in place.grammar.members.get(name.text, ()):
        yield put("member.swap", name, new, weight, place)
    called = node.parent is not None and node.parent.kind == "call_expression" and node.field == "function"
    counts: dict[str, int] = {}
    for other in place.tree.of(kind):
        if other.kind != kind:
            continue
        used, base = other.get(name_field), other.get(object_field)
        if used is None or base is None or used.text == name.text:
            continue
        used_called = (
            other.parent is not None and other.parent.kind == "call_expression" and other.field == "function"
        )
        if used_called == called and not (called and base.text != holder.text):
            counts[used.text] = max(counts.get(used.text, 0), 2 if base.text == holder.text else 1)
    for text in _fields(place, name.kind):
        counts.setdefault(text, 1)
    counts.pop(name.text, None)
    for text, count in counts.items():
        weight = (0.5 if count == 2 else 0.25) + 0.45 * similarity(text, name.text)
        yield put("member.attribute", name, text, min(1.0, weight), place)
    if not called:
        yield put("member.drop", node, holder.text, 0.5, place, level(holder, place.grammar))


def _fields(place: Place, kind: str) -> set[str]:
    """Names of fields and keys that the file declares."""
    return {
        n.text
        for n in place.tree.of(kind)
        if n.kind == kind
        and n.field in {"name", "key"}
        and n.parent is not None
        and n.parent.kind in _FIELD_HOLDERS
    }


_FIELD_HOLDERS = frozenset(
    {
        "pair",
        "public_field_definition",
        "field_definition",
        "field_declaration",
        "property_signature",
        "keyed_element",
    }
)


def rebind(node: Node, place: Place) -> Iterator[Proposal]:
    """`a.x` → `b.x` for another variable of the function; `x` → `this.x`."""
    _, object_field, name_field = place.grammar.member
    holder, name = node.get(object_field), node.get(name_field)
    if holder is None or name is None or holder.kind not in {"identifier", "this"}:
        return
    for other in place.own_variables:
        if other.text != holder.text and holder.kind == "this":
            yield Proposal(
                "member.rebind",
                0.3,
                ((holder.start, holder.end, other.text),),
                f"{shorten(node.text)} → {other.text}.{name.text}",
            )


def choices(node: Node, place: Place) -> Iterator[Proposal]:
    """An expression of the function in the place of a variable: `x` → `x.y` where the function has that."""
    if not is_value(node, place):
        return
    kind, object_field, _ = place.grammar.member
    seen: set[str] = set()
    for other in place.scope_nodes:
        if other.kind == kind and other.end - other.start < 40 and other.text not in seen:
            base = other.get(object_field)
            called = (
                other.parent is not None
                and other.parent.kind == "call_expression"
                and other.field == "function"
            )
            if base is not None and not called and other.text != node.text:
                seen.add(other.text)
                weight = 0.7 if base.text == node.text else 0.25
                yield put("name.part", node, other.text, weight, place)
