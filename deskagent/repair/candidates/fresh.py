"""One mutable value for all: a default `[]` made anew in each call, a class's `items = []` for each
object."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put
from deskagent.repair.candidates.blocks import first_in, instead
from deskagent.repair.candidates.known import owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.scope import role
from deskagent.repair.syntax import FUNCTIONS, block

Change = tuple[int, int, str]
_MAKERS = frozenset({"set()", "dict()", "list()", "deque()", "defaultdict(list)", "defaultdict(int)", "Counter()",
                     "OrderedDict()"})  # fmt: skip


def mutable(value: Node) -> bool:
    """Whether an expression makes something that can be changed."""
    return value.kind in {"list", "dictionary", "set", "list_comprehension"} or value.text in _MAKERS


def _defaults(function: Node) -> Iterator[tuple[Node, Node]]:
    """(name, value) of parameters with a mutable default."""
    signature = function.get("parameters")
    for part in signature.parts if signature is not None else ():
        if part.kind in {"default_parameter", "typed_default_parameter"}:
            name, value = part.get("name"), part.get("value")
            if name is not None and value is not None and mutable(value):
                yield name, value


def shared_default(node: Node, place: Place) -> Iterator[Proposal]:
    """`def f(xs=[])` → `xs=None`, and `if xs is None: xs = []` first, or an expression where it is used."""
    function = place.function
    if function is None:
        return
    unit = place.syntax.unit
    for name, value in _defaults(function):
        x, made = name.text, value.text
        uses = [n for n in function.walk() if n.kind == "identifier" and n.text == x and role(n) == "read"]
        if node is not function and not any(use.inside(node) for use in uses):
            continue
        near = 1.0 if node is function else 0.9
        absent: Change = (value.start, value.end, "None")
        for lines, weight in (
            (f"if {x} is None:\n{unit}{x} = {made}", 1.0),
            (f"{x} = {x} or {made}", 0.4),
            (f"{x} = {made} if {x} is None else {x}", 0.5),
            (f"{x} = {x} if {x} is not None else {made}", 0.4),
            (f"if not {x}:\n{unit}{x} = {made}", 0.3),
        ):
            inserted = first_in("default.fresh", function, lines, weight)
            if inserted is not None:
                note = f"{x}={made} → {x}=None, made in each call"
                yield Proposal("default.fresh", weight * near, (absent, *inserted.edits), note)
        for use in uses:
            if len(uses) > 2 or (
                use.parent is not None and use.parent.kind in {"attribute", "subscript", "call"}
            ):
                continue
            for text, weight, level in (
                (f"{made} if {x} is None else {x}", 0.9, 0),
                (f"{x} if {x} is not None else {made}", 0.9, 0),
                (f"{x} or {made}", 0.8, 1),
                (f"list({x} or [])" if made == "[]" else f"dict({x} or {{}})", 0.5, 14),
                (f"list({x}) if {x} is not None else []", 0.4, 0),
            ):
                put_in = put("default.fresh", use, text, weight, level)
                yield Proposal("default.fresh", weight * near, (absent, *put_in.edits), put_in.note)
        for use in uses:
            copy = {"list": f"list({x})", "dictionary": f"dict({x})", "set": f"set({x})"}.get(value.kind)
            stored = use.parent is not None and use.parent.kind == "assignment" and use.field == "right"
            if copy is not None and stored:
                yield put("default.fresh", use, copy, 0.8 * near)


def shared_attribute(node: Node, place: Place) -> Iterator[Proposal]:
    """`class A: items = []` → `self.items = []` in its __init__."""
    owner = owner_of(node)
    value = node.parts[0] if node.parts else None
    if owner is None or place.function is not None or value is None or value.kind != "assignment":
        return
    left, right, kind = value.get("left"), value.get("right"), value.get("type")
    if left is None or right is None or left.kind != "identifier" or not mutable(right):
        return
    decorated = (
        owner.parent is not None and "dataclass" in owner.parent.text[: owner.start - owner.parent.start]
    )
    if kind is not None and decorated:
        return  # `defaults.fields`
    body = block(owner)
    line = f"self.{left.text} = {right.text}"
    for part in body.parts if body is not None else ():
        name = part.get("name") if part.kind in FUNCTIONS else None
        if name is None or name.text != "__init__":
            continue
        inner = block(part)
        made = [first_in("default.fresh", part, line, 1.0)]
        if inner is not None and inner.parts and inner.parts[-1].row > part.row:
            end = inner.syntax.line_end(inner.parts[-1].end_row)
            text = "\n" + inner.syntax.indent(inner.parts[-1]) + line
            made.append(Proposal("default.fresh", 0.8, ((end, end, text),), ""))
        for one in made:
            if one is not None:
                note = f"{left.text} of each object"
                yield Proposal("default.fresh", one.weight, (instead(node, ""), *one.edits), note)
                yield Proposal("default.fresh", one.weight * 0.6, one.edits, note)
        return
    others = body is not None and len(body.parts) > 1
    unit = place.syntax.unit
    lines = f"def __init__(self):\n{unit}{line}"
    if others or body is not None:
        yield Proposal("default.fresh", 0.8, (instead(node, lines),), f"{left.text} of each object")


TABLE: Table = {"statement": (shared_default,), "expression_statement": (shared_attribute,)}
