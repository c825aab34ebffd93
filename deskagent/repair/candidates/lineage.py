"""What a class is made from: another base that callers catch, and the setter of a property."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put
from deskagent.repair.candidates.blocks import below
from deskagent.repair.candidates.known import functions_in, owner_of, used
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block

_NO_SETTER = re.compile(r"property '(\w+)' of '(\w+)' object has no setter|can't set attribute(?: '(\w+)')?")
_MOST = 6


def base(node: Node, place: Place) -> Iterator[Proposal]:
    """`class E(Exception)` → `class E(ValueError)`, `class E(Exception, ValueError)`, as a test wants to catch it."""
    bases, name = node.get("superclasses"), node.get("name")
    if bases is None or name is None or not bases.parts:
        return
    raised = {error.partition(":")[0].rpartition(".")[2] for error in place.hints.examples.errors}
    if name.text not in raised:
        return
    held = [part.text for part in bases.parts]
    asked = [r.name for r in place.hints.asked.raises]
    for index, text in enumerate(dict.fromkeys([*asked, *sorted(place.hints.exceptions)])):
        if text in held or text == name.text or not (hasattr(builtins, text) or text in place.names):
            continue
        weight = 0.8 ** min(index, _MOST) * (1.0 if text in asked or not asked else 0.2)
        if len(held) == 1:
            yield put("class.base", bases.parts[0], text, weight)
        last = bases.parts[-1]
        yield Proposal("class.base", 0.8 * weight, ((last.end, last.end, f", {text}"),), f"also a {text}")
        if len(held) == 1:
            first = bases.parts[0]
            yield Proposal(
                "class.base", 0.6 * weight, ((first.start, first.start, f"{text}, "),), f"a {text} first"
            )


def setter(node: Node, place: Place) -> Iterator[Proposal]:
    """`@size.setter` after the property that can't be set."""
    owner = node if node.kind == "class_definition" else owner_of(node)
    found = [groups for error in place.hints.examples.errors for groups in _NO_SETTER.findall(error)]
    names = {groups[0] or groups[2] for groups in found}
    for function in functions_in(owner) if owner is not None and found else ():
        name, holder, body = function.get("name"), function.parent, block(function)
        if name is None or holder is None or body is None or holder.kind != "decorated_definition":
            continue
        if "@property" not in holder.text or (names != {""} and name.text not in names):
            continue
        syntax = node.syntax
        indent, unit = syntax.indent(holder), syntax.unit
        at = below(holder)
        read = [text for text in sorted(used(function)) if text[5:].strip("_") == name.text.strip("_")]
        for index, text in enumerate(dict.fromkeys([*read, *sorted(used(function)), f"self._{name.text}"])):
            head = f"{indent}@{name.text}.setter\n{indent}def {name.text}(self, value):"
            lines = f"\n\n{head}\n{indent}{unit}{text} = value"
            yield Proposal(
                "member.dunder", 0.8**index, ((at, at, lines),), f"a setter of {name.text}: {text} = value"
            )


TABLE: Table = {"class_definition": (base,), "statement": (setter,)}
