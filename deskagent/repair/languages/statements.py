"""Whole statements: taken out, put in, moved, in or out of a loop; guards, early returns, what is given back."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, exchange, shorten, similarity
from deskagent.repair.languages.place import Place, declarations
from deskagent.repair.nodes import Node

_KEPT = frozenset(
    {"import_statement", "import_declaration", "package_clause", "export_statement", "type_declaration"}
)
_ENDS = frozenset({"return_statement", "break_statement", "continue_statement", "throw_statement"})


def line_of(node: Node, place: Place) -> tuple[int, int]:
    """The bytes of a statement that has its lines to itself, line end included."""
    tree = place.tree
    end = tree.line_end(node.end_row)
    following = tree.starts[node.end_row + 1] if node.end_row + 1 < len(tree.starts) else end
    return tree.line_start(node.row), following


def alone(node: Node, place: Place) -> bool:
    """Whether nothing else stands on the lines of `node`."""
    tree = place.tree
    rest = tree.source.utf8[node.end : tree.line_end(node.end_row)].decode("utf-8", "replace").strip()
    return tree.starts_line(node) and (rest in {"", ";"} or rest.startswith("//"))


def delete(node: Node, place: Place) -> Iterator[Proposal]:
    """The statement is gone; of a branch, its test is gone or it never happens."""
    if node.kind in _KEPT or node.kind in place.grammar.functions or node.parent is None:
        return
    weight = 0.5 if node.kind in place.grammar.compound else 0.4 if node.kind == "return_statement" else 0.8
    if alone(node, place):
        start, end = line_of(node, place)
        yield Proposal("statement.delete", weight, ((start, end, ""),), f"delete {shorten(node.text)}")
    block = place.tree.block(node)
    if (
        node.kind == "if_statement"
        and block is not None
        and alone(node, place)
        and node.get("alternative") is None
    ):
        inner = place.tree.inner(block)
        if inner and inner[0].row > node.row:
            text = _dedented(place, inner[0], inner[-1])
            start, end = line_of(node, place)
            yield Proposal(
                "statement.unconditional", 0.6, ((start, end, text),), f"always {shorten(inner[0].text)}"
            )


def _dedented(place: Place, first: Node, last: Node) -> str:
    tree = place.tree
    text = tree.source.utf8[tree.line_start(first.row) : line_of(last, place)[1]].decode("utf-8", "replace")
    unit = tree.unit
    return "".join(line.removeprefix(unit) for line in text.splitlines(keepends=True))


def move(node: Node, place: Place) -> Iterator[Proposal]:
    """A neighbour's place; out of the loop or branch, or into the one before."""
    if node.kind in _KEPT or node.kind in place.grammar.functions or not alone(node, place):
        return
    tree = place.tree
    beside = tree.siblings(node)
    index = next((i for i, part in enumerate(beside) if part is node), -1)
    for other in beside[index + 1 : index + 3]:
        if (
            other.kind not in _KEPT
            and other.text != node.text
            and alone(other, place)
            and node.kind not in _ENDS
        ):
            near = other is beside[index + 1]
            if other.kind not in _ENDS:
                yield exchange("statement.swap", node, other, 1.0 if near else 0.5)
    start, end = line_of(node, place)
    text = tree.source.utf8[start:end].decode("utf-8", "replace")
    if node.kind in place.grammar.compound or not text.endswith("\n"):
        return
    holder = next((n for n in node.ancestors() if tree.is_statement(n)), None)
    if holder is not None and holder.kind not in place.grammar.functions and alone(holder, place) and beside:
        out = text.replace(tree.indent(node), tree.indent(holder), 1)
        after = line_of(holder, place)[1]
        before = line_of(holder, place)[0]
        if (beside[-1] is node and len(beside) > 1) or node.kind in _ENDS:
            yield Proposal(
                "statement.outdent",
                1.0,
                ((start, end, ""), (after, after, out)),
                f"move {shorten(node.text)} after the block",
            )
        if node.kind not in _ENDS and len(beside) > 1:
            yield Proposal(
                "statement.outdent",
                0.8,
                ((before, before, out), (start, end, "")),
                f"move {shorten(node.text)} before the block",
            )
            if beside[-1] is not node:
                yield Proposal(
                    "statement.outdent",
                    0.5,
                    ((start, end, ""), (after, after, out)),
                    f"move {shorten(node.text)} after the block",
                )
    if index > 0:
        block = tree.block(beside[index - 1])
        inner = tree.inner(block) if block is not None else []
        if (
            inner
            and beside[index - 1].kind not in place.grammar.functions
            and inner[-1].kind not in _ENDS
            and alone(inner[-1], place)
        ):
            at = line_of(inner[-1], place)[1]
            into = text.replace(tree.indent(node), tree.indent(inner[-1]), 1)
            yield Proposal(
                "statement.indent",
                1.0,
                ((at, at, into), (start, end, "")),
                f"move {shorten(node.text)} into the block",
            )


def insert(node: Node, place: Place) -> Iterator[Proposal]:
    """A line that the function lacks: a count moved on, a value kept, a copy of one of its statements."""
    if node.parent is None or place.function is None:
        return
    for text, weight in _lines(place):
        yield from around(node, place, text, weight)


def around(
    node: Node,
    place: Place,
    text: str,
    weight: float,
    operator: str = "statement.insert",
    inside: bool = True,
) -> Iterator[Proposal]:
    tree = place.tree
    block = tree.block(node)
    inner = tree.inner(block) if block is not None else []
    if inner and tree.starts_line(inner[0]) and inner[0].row > node.row:
        at = tree.line_start(inner[0].row)
        head = node.kind in place.grammar.functions or node.kind in place.grammar.loops
        yield Proposal(
            operator,
            weight * (1.0 if head else 0.5),
            ((at, at, f"{tree.indent(inner[0])}{text}\n"),),
            f"insert {shorten(text)}",
        )
        if (
            inside
            and node.kind in place.grammar.loops
            and inner[-1].kind not in _ENDS
            and alone(inner[-1], place)
        ):
            end = line_of(inner[-1], place)[1]
            yield Proposal(
                operator,
                weight,
                ((end, end, f"{tree.indent(inner[-1])}{text}\n"),),
                f"insert {shorten(text)}",
            )
    if alone(node, place) and node.kind not in place.grammar.functions:
        start, end = line_of(node, place)
        yield Proposal(
            operator, weight, ((start, start, f"{tree.indent(node)}{text}\n"),), f"insert {shorten(text)}"
        )
        if inside and node.kind not in _ENDS:
            yield Proposal(
                operator,
                weight * 0.9,
                ((end, end, f"{tree.indent(node)}{text}\n"),),
                f"insert {shorten(text)}",
            )


def _lines(place: Place) -> Iterator[tuple[str, float]]:
    end = place.grammar.end
    loop = place.in_loop is not None or place.statement.kind in place.grammar.loops
    for name in place.own_variables:
        counts = bool(name.kinds & {"int", "number"})
        idle = name.origin == "local" and name.writes == 0
        if loop and counts:
            yield f"{name.text}++{end}", 1.0 if idle else 0.4
            yield f"{name.text}--{end}", 0.3 if idle else 0.15
        if (
            name.kinds & {"array", "list"}
            or name.kinds & {"map", "set"}
            or any(k.startswith("[]") for k in name.kinds)
        ):
            for other in place.own_variables:
                if other.text != name.text and not other.kinds & {"array", "list", "map"}:
                    if place.grammar.name == "go":
                        yield f"{name.text} = append({name.text}, {other.text})", 0.5 if idle else 0.3
                    else:
                        yield f"{name.text}.push({other.text}){end}", 0.5 if idle else 0.3
                        if name.initial.startswith("new Set"):
                            yield f"{name.text}.add({other.text}){end}", 0.7
        if name.origin == "local" and loop:
            for other in place.own_variables:
                if other.text != name.text and (
                    not name.kinds or not other.kinds or name.kinds & other.kinds
                ):
                    weight = (0.7 if idle else 0.2) * (0.5 + 0.5 * similarity(name.text, other.text))
                    yield f"{name.text} = {other.text}{end}", weight
    if loop:
        yield f"continue{end}", 0.3
        yield f"break{end}", 0.5
    yield from _copies(place)


def pass_over(node: Node, place: Place) -> Iterator[Proposal]:
    """After `xs[i + 1]` in a loop over `i`: `i++`, since what was read ahead is to be passed over."""
    if place.in_loop is None:
        return
    for name in place.own_variables:
        if any(_looks_ahead(part, name.text) for part in place.nodes):
            yield from around(
                node, place, f"{name.text}++{place.grammar.end}", 1.0, operator="statement.step"
            )


def _looks_ahead(node: Node, name: str) -> bool:
    """Whether `node` is `name + 1`."""
    return node.kind == "binary_expression" and node.text.replace(" ", "") == f"{name}+1"


def _copies(place: Place) -> list[tuple[str, float]]:
    """Short statements of the file as they are, or with the one name that can't be seen here put for one that can."""
    found: dict[str, float] = {}
    strange = unseen(place)
    for other in place.tree.statements:
        if (
            other is place.statement
            or other.kind not in _COPIED
            or other.end - other.start > 60
            or "\n" in other.text
        ):
            continue
        names = [n for n in other.walk() if n.kind == "identifier"]
        foreign = {n.text for n in names if n.text in strange}
        if not foreign:
            found.setdefault(other.text, 0.25)
        elif len(foreign) == 1 and other.kind == "expression_statement":
            for name in place.own_variables:
                found.setdefault(_renamed(other, names, foreign, name.text), 0.35)
    return list(found.items())[:60]


_COPIED = frozenset({"expression_statement", "assignment_statement", "inc_statement", "dec_statement"})


def _renamed(statement: Node, names: list[Node], foreign: set[str], new: str) -> str:
    """The statement's text with the `foreign` names put for `new`."""
    source = statement.syntax.source.utf8
    pieces, at = [], statement.start
    for node in names:
        if node.text in foreign:
            pieces += [source[at : node.start], new.encode()]
            at = node.end
    return b"".join((*pieces, source[at : statement.end])).decode("utf-8", "replace")


def unseen(place: Place) -> set[str]:
    """Names that the file declares somewhere inside, none of which can be used at the place."""
    inside = {node.text for node, holder in declarations(place.tree) if holder.parent is not None}
    return inside - place.names.keys()
