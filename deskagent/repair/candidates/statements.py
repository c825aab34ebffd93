"""Statements: one too many, in the wrong place, or missing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from deskagent.repair.candidates.base import Place, Proposal, Table, exchange, shorten
from deskagent.repair.candidates.blocks import after, alone, around, before, dedented, instead
from deskagent.repair.candidates.loops import recent
from deskagent.repair.nodes import Node
from deskagent.repair.scope import Name, role
from deskagent.repair.syntax import CLAUSES, COMPOUND, LOOPS, block, is_docstring, siblings

MAX_LINES = 150
_OWN = frozenset({"local", "outer"})
_MOVABLE = frozenset(
    {"expression_statement", "return_statement", "delete_statement", "raise_statement", "assert_statement"}
)


def delete(node: Node, place: Place) -> Iterator[Proposal]:
    """The statement taken out; `pass` where the block would be empty."""
    if (
        node.kind in COMPOUND and node.kind not in {"if_statement", "for_statement", "while_statement"}
    ) or not alone(node):
        return
    if node.kind.startswith(("import", "future")):
        return
    weight = {"expression_statement": 0.8, "return_statement": 0.5, "if_statement": 0.5}.get(node.kind, 0.3)
    if node.kind in {"break_statement", "continue_statement"} or _refuses(node, place):
        weight = 1.0
    others = [part for part in siblings(node) if part is not node and not is_docstring(part)]
    if others or node.kind != "pass_statement":
        edit = instead(node, "" if others else "pass")
        yield Proposal("statement.delete", weight, (edit,), f"delete {shorten(node.text)}")


def _refuses(node: Node, place: Place) -> bool:
    """Whether the statement is an `assert` of the code's own that a failing test seems to have run into."""
    if node.kind != "assert_statement" or "AssertionError" not in place.hints.exceptions:
        return False
    names = {part.text for part in place.nodes if part.kind == "identifier" and len(part.text) > 1}
    return bool(names) and names <= place.hints.message


def unconditional(node: Node, place: Place) -> Iterator[Proposal]:
    """`if c: body` → `body`; the `else` taken off."""
    body = block(node)
    if body is None or not body.parts or body.parts[0].row == node.row or not alone(node):
        return
    if any(child.kind in CLAUSES for child in node.children):
        return
    lines = "\n".join(dedented(part) for part in body.parts)
    yield Proposal("statement.unconditional", 0.5, (instead(node, lines),), f"always {shorten(body.text)}")


def move(node: Node, place: Place) -> Iterator[Proposal]:
    """Swapped with its neighbour; moved out of its loop or branch, or into the one before it."""
    if node.kind not in _MOVABLE or not alone(node):
        return
    beside = siblings(node)
    index = next((i for i, part in enumerate(beside) if part is node), -1)
    text = dedented(node)
    for other in beside[index + 1 : index + 2]:
        if alone(other) and other.kind not in {
            "function_definition",
            "class_definition",
            "decorated_definition",
        }:
            yield from _moved(
                "statement.swap", node, after("", other, text, 1.0), 0.8, f"after {shorten(other.text)}"
            )
    parent = node.parent
    holder = parent.parent if parent is not None and parent.kind == "block" else None
    if holder is not None and holder.kind in LOOPS | {
        "if_statement",
        "else_clause",
        "elif_clause",
        "with_statement",
    }:
        outer = holder.parent if holder.kind in CLAUSES else holder
        if outer is not None and len(beside) > 1 and alone(outer):
            if index == len(beside) - 1:
                weight = 1.0 if holder.kind in LOOPS else 0.6
                yield from _moved(
                    "statement.outdent", node, after("", outer, text, 1.0), weight, "out of the block"
                )
            if index == 0:
                yield from _moved(
                    "statement.outdent", node, before("", outer, text, 1.0), 0.6, "before the block"
                )
    previous = beside[index - 1] if index > 0 else None
    if previous is not None and previous.kind in LOOPS | {"if_statement", "with_statement"}:
        inner = block(previous)
        if inner is not None and inner.parts and inner.parts[-1].row > previous.row and len(beside) > 1:
            weight = 0.8 if node.kind != "return_statement" else 0.2
            last = previous.parts[-1]
            tail = block(last) if last.kind in CLAUSES else inner
            if tail is not None and tail.parts and alone(tail.parts[-1]):
                yield from _moved(
                    "statement.indent",
                    node,
                    after("", tail.parts[-1], text, 1.0),
                    weight,
                    "into the block before",
                )


def _moved(operator: str, node: Node, put: Proposal | None, weight: float, where: str) -> Iterator[Proposal]:
    if put is not None:
        yield Proposal(
            operator, weight, (instead(node, ""), *put.edits), f"move {shorten(node.text)} {where}"
        )


def insert(node: Node, place: Place) -> Iterator[Proposal]:
    """A line put in before or after: an update left out, a collection never filled, a line like another one."""
    if place.function is None:
        return
    lines = dict(islice(_updates(place), MAX_LINES))
    for text, weight in islice(_copies(node, place), MAX_LINES):
        lines.setdefault(text, weight)
    for text, weight in lines.items():
        yield from around("statement.insert", node, text, weight)


def flush(node: Node, place: Place) -> Iterator[Proposal]:
    """What a loop hands out when a group is full is handed out once more after it: the last group is often lost."""
    if node.kind not in LOOPS or not alone(node):
        return
    unit = place.syntax.unit
    for inner in node.walk():
        value = inner.parts[0] if inner.kind == "expression_statement" and inner.parts else None
        if (
            value is None
            or value.kind not in {"yield", "call"}
            or "\n" in inner.text
            or inner.end - inner.start > 80
        ):
            continue
        used = [part.text for part in value.walk() if part.kind == "identifier"]
        for name in place.own_variables:
            if name.text not in used or name.origin != "local" or name.line > node.row + 1 or name.writes < 2:
                continue
            share = (
                1.0 if value.kind == "yield" or value.text.rpartition("(")[2].startswith(name.text) else 0.6
            )
            for made in (
                after("statement.flush", node, f"if {name.text}:\n{unit}{inner.text}", share),
                after("statement.flush", node, inner.text, share * 0.6),
            ):
                if made is not None:
                    yield made


def _updates(place: Place) -> Iterator[tuple[str, float]]:
    """Lines that what the function does with its names asks for."""
    variables = place.own_variables
    loop = place.in_loop is not None or place.statement.kind in LOOPS
    for name in variables:
        starved = name.origin in _OWN and not name.fills and name.reads > 0 and name.writes <= 1
        if (starved and name.initial in {"[]", "list()", "deque()", "set()"}) or _one(name):
            method = "add" if "set" in name.kinds else "append"
            for other in variables:
                if other.text != name.text and not (other.kinds and other.kinds <= {"dict", "call", "set"}):
                    yield (
                        f"{name.text}.{method}({other.text})",
                        (1.0 if starved else 0.5) * recent(other, place),
                    )
        elif name.origin in _OWN and name.kinds & {"list", "set"}:
            methods = ("add",) if "set" in name.kinds else ("append",)
            for method in methods:
                for other in variables:
                    if other.text != name.text and not (
                        other.kinds and other.kinds <= {"dict", "call", "set"}
                    ):
                        known = method in name.attributes
                        yield (
                            f"{name.text}.{method}({other.text})",
                            (0.4 if known else 0.6) * recent(other, place),
                        )
    if loop:
        yield "continue", 0.3
        yield "break", 0.5


def _one(name: Name) -> bool:
    """A local set or list made with something in it and never filled."""
    return (
        name.origin in _OWN
        and bool(name.kinds & {"set", "list"})
        and not name.fills
        and name.writes <= 1
        and name.reads > 1
    )


def _copies(node: Node, place: Place) -> Iterator[tuple[str, float]]:
    """Statements of the function once more, as they are or with one name put for another; what other methods of
    the class do to `self`."""
    owner = next((n for n in place.statement.ancestors() if n.kind == "class_definition"), None)
    here = place.names.keys()
    for text, used in _done_to_self(owner) if owner is not None and "self" in here else ():
        if used <= here:
            yield text, 0.3
    for attribute in sorted(_filled(owner)) if owner is not None and "self" in place.names else ():
        yield f"{attribute}.clear()", 0.25
    for other in place.scope_nodes:
        if (
            other.kind != "expression_statement"
            or is_docstring(other)
            or other.end - other.start > 70
            or "\n" in other.text
        ):
            continue
        if other is not node:
            yield other.text, 0.25
        call = other.parts[0] if other.parts else None
        given = call.get("arguments") if call is not None and call.kind == "call" else None
        if given is None or len(given.parts) != 1 or given.parts[0].kind != "identifier":
            continue
        argument = given.parts[0]
        head = other.syntax.source.utf8[other.start : argument.start].decode("utf-8", "replace")
        tail = other.syntax.source.utf8[argument.end : other.end].decode("utf-8", "replace")
        for name in place.own_variables:
            if name.text != argument.text and name.text not in head:
                yield f"{head}{name.text}{tail}", 0.3


@lru_cache(maxsize=64)
def _done_to_self(owner: Node) -> list[tuple[str, set[str]]]:
    """Short lines of a class that begin with `self.`, and the names that each reads."""
    return [
        (node.text, {part.text for part in node.walk() if part.kind == "identifier" and role(part) == "read"})
        for node in owner.walk()
        if node.kind == "expression_statement" and node.end - node.start < 60
        if node.text.startswith("self.") and "\n" not in node.text
    ]


@lru_cache(maxsize=64)
def _filled(owner: Node) -> set[str]:
    """`self.x` of a class that start as an empty collection."""
    return {
        left.text
        for node in owner.walk()
        if node.kind == "assignment"
        and (left := node.get("left")) is not None
        and (right := node.get("right")) is not None
        if left.kind == "attribute"
        and left.text.startswith("self.")
        and right.text in {"{}", "[]", "set()", "dict()", "list()"}
    }


def pair(node: Node, place: Place) -> Iterator[Proposal]:
    """`a += x` and the `a -= y` beside it exchange their operators."""
    one = node.parts[0] if node.parts else None
    token = one.get("operator") if one is not None and one.kind == "augmented_assignment" else None
    if token is None:
        return
    beside = siblings(node)
    index = next((i for i, part in enumerate(beside) if part is node), -1)
    for other in beside[index + 1 : index + 2]:
        two = other.parts[0] if other.kind == "expression_statement" and other.parts else None
        second = two.get("operator") if two is not None and two.kind == "augmented_assignment" else None
        if second is not None and second.text != token.text:
            yield exchange("arithmetic.pair", token, second, 1.0)


TABLE: Table = {
    "expression_statement": (pair,),
    "statement": (delete, move, insert),
    "for_statement": (flush,),
    "while_statement": (flush,),
    "if_statement": (unconditional,),
}
