"""What the tests hand to the function at a place: the values of its parameters in calls that fail and that work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deskagent.repair.asked import Call
from deskagent.repair.candidates.base import Place
from deskagent.repair.candidates.known import owner_of
from deskagent.repair.candidates.shown import literal
from deskagent.repair.nodes import Node
from deskagent.repair.values import UNKNOWN, Env, Unknown

_MAKERS = frozenset({"__init__", "__new__", "__post_init__"})


@dataclass(frozen=True)
class Row:
    """One call: parameter → value, UNKNOWN where that can't be told; what its result has to be, as source and as a
    value."""

    values: Env
    wanted: str = ""
    result: object = UNKNOWN


@dataclass(frozen=True)
class Handed:
    """Calls of one function by the tests. `rejected` are those that an error is wanted of."""

    parameters: tuple[str, ...]
    rejected: tuple[Row, ...] = ()
    failing: tuple[Row, ...] = ()
    passing: tuple[Row, ...] = ()


def handed(place: Place) -> Handed:
    """What the tests hand to the function around the place's statement."""
    function = place.function
    if function is None:
        return Handed(())
    if "handed" not in place.shared:
        place.shared["handed"] = _handed(function, place)
    return place.shared["handed"]


def _handed(function: Node, place: Place) -> Handed:
    owner, name = owner_of(function), function.get("name")
    names = parameters(function)
    bare = tuple(names)
    first = bare[:1] in {("self",), ("cls",)}
    own = bare[1:] if first and owner is not None else bare
    if name is None:
        return Handed(own)
    called = name.text
    if called in _MAKERS and owner is not None and (title := owner.get("name")) is not None:
        called = title.text
    asked = place.hints.asked

    def rows(calls: Iterable[Call]) -> tuple[Row, ...]:
        found = {}
        for call in calls:
            if call.name == called and len(call.values) <= len(own):
                values: Env = {p: names[p] for p in own if not isinstance(names[p], Unknown)}
                values |= dict(zip(own, call.values, strict=False)) | {
                    key: value for key, value in call.keywords.items() if key in names
                }
                row = Row(values, call.wanted, call.result)
                found[repr((sorted(values.items(), key=lambda item: item[0]), call.wanted))] = row
        return tuple(found.values())

    rejected = rows(call for call in asked.failing if call.raises)
    failing = rows(call for call in asked.failing if not call.raises)
    if not rejected and not failing and asked.bound:  # called by way of another: names tell
        shared = {p: asked.bound[p] for p in own if p in asked.bound}
        count = min((len(values) for values in shared.values()), default=0)
        made = tuple(Row({p: values[i] for p, values in shared.items()}) for i in range(count))
        rejected, failing = (made, ()) if asked.raises else ((), made)
    return Handed(own, rejected, failing, rows(asked.passing))


def parameters(function: Node) -> Env:
    """Parameter → its default, UNKNOWN where it has none or no plain one."""
    found: Env = {}
    signature = function.get("parameters")
    for part in signature.parts if signature is not None else ():
        if part.kind in {"default_parameter", "typed_default_parameter"}:
            name, value = part.get("name"), part.get("value")
            if name is not None and value is not None:
                plain = literal(value)
                found[name.text] = plain if plain is not None or value.kind == "none" else UNKNOWN
        elif part.kind == "identifier":
            found[part.text] = UNKNOWN
        elif part.kind == "typed_parameter" and part.parts and part.parts[0].kind == "identifier":
            found[part.parts[0].text] = UNKNOWN
    return found
