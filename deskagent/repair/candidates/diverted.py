"""Other ways through code that stands: into the `except` that is there, out with the value at hand, past an `else`."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten, similarity
from deskagent.repair.candidates.blocks import after, alone, before, body_of
from deskagent.repair.candidates.moulds import conditions
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import CLAUSES, block, siblings

MAX_ASKED = 12
_NAMED = frozenset({"identifier", "attribute"})
_TOO_WIDE = frozenset({"BaseException", "KeyboardInterrupt", "SystemExit"})


def caught(node: Node, place: Place) -> Iterator[Proposal]:
    """First in a `try`: `if x is None: raise ValueError`, of a kind that its `except` catches."""
    parent = node.parent
    holder = parent.parent if parent is not None and parent.kind == "block" else None
    if holder is None or holder.kind != "try_statement" or parent is None or not alone(node):
        return
    if not parent.parts or parent.parts[0] is not node:
        return
    kinds = list(_caught(holder))[:3]
    if not kinds:
        return
    for text, weight, _ in conditions(place, MAX_ASKED):
        for share, kind in zip((1.0, 0.6, 0.4), kinds, strict=False):
            lines = f"if {text}:\n{place.syntax.unit}raise {kind}"
            for made in (
                before("guard.caught", node, lines, weight * share),
                before("guard.caught", node, lines + "()", weight * share * 0.6),
            ):
                if made is not None:
                    yield made


def _caught(statement: Node) -> Iterator[str]:
    """The exceptions that a `try` catches, in order."""
    for clause in statement.children:
        if clause.kind != "except_clause":
            continue
        named = clause.parts[0] if clause.parts else None
        if named is None or named.kind == "block":
            continue
        if named.kind == "as_pattern" and named.parts:
            named = named.parts[0]
        for part in named.parts if named.kind == "tuple" else [named]:
            if part.kind in _NAMED and part.text not in _TOO_WIDE:
                yield part.text


def given(node: Node, place: Place) -> Iterator[Proposal]:
    """`if data: return data` before a statement: what has been made so far is the answer."""
    if (
        place.function is None
        or node.kind in CLAUSES
        or node.kind == "function_definition"
        or not alone(node)
    ):
        return
    returned = {n.parts[0].text for n in place.scope_nodes if n.kind == "return_statement" and n.parts}
    for name in place.own_variables:
        if name.kinds & {"int", "float", "bool", "call"} or name.origin == "loop":
            continue
        near = 1.0 if name.text in returned else 0.4 if name.origin == "parameter" else 0.6
        for condition, share in ((name.text, 1.0), (f"{name.text} is not None", 0.7)):
            lines = f"if {condition}:\n{place.syntax.unit}return {name.text}"
            made = before("guard.given", node, lines, near * share)
            if made is not None:
                yield made


def asked(node: Node, place: Place) -> Iterator[Proposal]:
    """`else:` → `elif x is None:`, so that a value that is there already stays."""
    body = block(node)
    if (
        node.kind != "else_clause"
        or node.parent is None
        or node.parent.kind != "if_statement"
        or body is None
    ):
        return
    colon = next((child for child in node.children if child.kind == ":"), None)
    if colon is None:
        return
    found: dict[str, float] = {}
    for part in body.parts:
        value = part.parts[0] if part.kind == "expression_statement" and part.parts else None
        left = value.get("left") if value is not None and value.kind == "assignment" else None
        if left is not None and left.kind in _NAMED:
            found |= {f"{left.text} is None": 1.0, f"not {left.text}": 0.7}
    for text, weight, _ in conditions(place, MAX_ASKED):
        found.setdefault(text, weight * 0.6)
    for text, weight in found.items():
        note = f"else → elif {shorten(text)}"
        yield Proposal("clause.asked", weight, ((node.start, colon.start, f"elif {text}"),), note)


def sequel(node: Node, place: Place) -> Iterator[Proposal]:
    """A short statement once more after itself, with one name of its own put for another that is like it:
    `if args: args = load(args)`, then the same of `kwargs`."""
    holder = node.parent.parent if node.parent is not None and node.parent.kind == "block" else None
    if holder is not None and holder.kind == "if_statement" and len(body_of(holder)) == 1:
        yield from _sequel(holder, place)
    yield from _sequel(node, place)


def _sequel(node: Node, place: Place) -> Iterator[Proposal]:
    if node.end - node.start > 160 or not alone(node) or node.text.count("\n") > 2:
        return
    if node.kind not in {"expression_statement", "if_statement"}:
        return
    beside = siblings(node)
    at = next((i for i, part in enumerate(beside) if part is node), -1)
    following = beside[at + 1].text if 0 <= at < len(beside) - 1 else ""
    used = {part.text for part in node.walk() if part.kind == "identifier"}
    for old in place.own_variables:
        if old.text not in used:
            continue
        for new in place.own_variables:
            if (
                new.text in used
                or new.origin != old.origin
                or (new.kinds and old.kinds and not new.kinds & old.kinds)
            ):
                continue
            text = _renamed(node, old.text, new.text)
            if text == following or text in following:
                continue
            weight = (0.3 + 0.7 * similarity(old.text, new.text)) * (1.0 if not new.reads else 0.6)
            made = after("statement.sequel", node, text, weight)
            if made is not None:
                yield made


def _renamed(node: Node, old: str, new: str) -> str:
    """The statement's lines at column 0, a name put for another; attributes and keywords of that name stay."""
    source, text, at = node.syntax.source.utf8, "", node.start
    for part in node.walk():
        if part.kind != "identifier" or part.text != old or part.start < at:
            continue
        kept = part.parent is not None and part.parent.kind in {"attribute", "keyword_argument"}
        if kept and part.field in {"attribute", "name"}:
            continue
        text += source[at : part.start].decode("utf-8", "replace") + new
        at = part.end
    text += source[at : node.end].decode("utf-8", "replace")
    indent = node.syntax.indent(node)
    first, *rest = text.rstrip().split("\n")
    return "\n".join([first, *(line.removeprefix(indent) for line in rest)])


TABLE: Table = {"statement": (caught, given, sequel), "else_clause": (asked,)}
