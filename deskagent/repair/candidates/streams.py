"""What an open file is still owed: `flush` after a write, `close` before its name goes or is read again."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, called_name, put, similarity
from deskagent.repair.candidates.blocks import after, alone, before
from deskagent.repair.nodes import Node

_WRITES = frozenset({"write", "writelines", "send", "sendall"})
_GONE = frozenset({"unlink", "remove", "rename", "replace", "move", "copy", "copyfile", "rmtree"})
"""Calls that want a file closed when they are handed its name."""


def owed(node: Node, place: Place) -> Iterator[Proposal]:
    """`out.write(x)` → and `out.flush()`; `os.unlink(f.name)` → `f.close()` before it."""
    call = node.parts[0] if node.parts else None
    if call is None or call.kind != "call" or not alone(node):
        return
    function = call.get("function")
    owner = function.get("object") if function is not None else None
    name = called_name(call)
    said = place.hints.request | place.hints.message
    if owner is not None and name in _WRITES:
        for method in ("flush", "close"):
            weight = (0.8 if method == "flush" else 0.3) + (0.2 if method in said else -0.2)
            made = after("statement.owed", node, f"{owner.text}.{method}()", weight)
            if made is not None:
                yield made
    given = call.get("arguments")
    if name not in _GONE or given is None:
        return
    for part in given.parts:
        held, field = part.get("object"), part.get("attribute")
        if part.kind == "attribute" and held is not None and field is not None and field.text == "name":
            for method, weight in (("close", 1.0), ("flush", 0.4)):
                made = before("statement.owed", node, f"{held.text}.{method}()", weight)
                if made is not None:
                    yield made


def sibling(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(head=None, row=Row(s))` → `f(head=Row(s), …)`: a part left out that one of a like name has."""
    name, value, bracket = node.get("name"), node.get("value"), node.parent
    if name is None or value is None or bracket is None or value.kind not in {"none", "list", "dictionary"}:
        return
    for other in bracket.parts:
        key, its = other.get("name"), other.get("value")
        if other is node or other.kind != "keyword_argument" or key is None or its is None:
            continue
        if its.kind != value.kind and its.end - its.start <= 80:
            yield put("call.alike", value, its.text, max(0.2, similarity(name.text, key.text)))


TABLE: Table = {"expression_statement": (owed,), "keyword_argument": (sibling,)}
