"""Whole lines of a block: where one may be put in, and how to write it so that its neighbours stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, shorten
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import COMPOUND, LOOPS, block, is_docstring

ENDS = frozenset({"return_statement", "raise_statement", "break_statement", "continue_statement"})
"""After these nothing of the block runs."""


def alone(statement: Node) -> bool:
    """Whether the statement has its lines for itself, so that whole lines can be put beside it."""
    syntax = statement.syntax
    if not syntax.starts_line(statement):
        return False
    tail = syntax.source.utf8[statement.end : syntax.line_end(statement.end_row)].strip()
    return not tail or tail.startswith(b"#")


def text_end(node: Node) -> int:
    """Where the last character of a node ends: a compound's node may end at its last line's break."""
    return node.start + len(node.syntax.source.utf8[node.start : node.end].rstrip())


def below(statement: Node) -> int:
    """Where lines right after a statement are put in: the end of its last line."""
    return statement.syntax.line_end(statement.syntax.row_of(text_end(statement)))


def opens(node: Node, function: Node) -> bool:
    """Whether `node` is the function or the first thing that it does."""
    return node is function or any(node is part for part in body_of(function)[:1])


def body_of(compound: Node) -> list[Node]:
    """The statements of a compound's body, a docstring left out."""
    body = block(compound)
    return [part for part in body.parts if not is_docstring(part)] if body is not None else []


def before(operator: str, statement: Node, lines: str, weight: float, note: str = "") -> Proposal | None:
    """`lines` (indented from 0, joined by line feeds) put before `statement`."""
    anchor = (
        statement.parent
        if statement.parent is not None and statement.parent.kind == "decorated_definition"
        else statement
    )
    syntax = anchor.syntax
    if not syntax.starts_line(anchor):
        return None
    at = syntax.line_start(anchor.row)
    text = indented(lines, syntax.indent(anchor)) + "\n"
    return Proposal(operator, weight, ((at, at, text),), note or f"insert {shorten(lines)}")


def after(operator: str, statement: Node, lines: str, weight: float, note: str = "") -> Proposal | None:
    """`lines` put after `statement`, in its block."""
    syntax = statement.syntax
    if not alone(statement):
        return None
    at = below(statement)
    text = "\n" + indented(lines, syntax.indent(statement))
    return Proposal(operator, weight, ((at, at, text),), note or f"insert {shorten(lines)}")


def first_in(operator: str, compound: Node, lines: str, weight: float, note: str = "") -> Proposal | None:
    """`lines` put at the start of a compound's body, after a docstring."""
    body = block(compound)
    parts = body.parts if body is not None else []
    if not parts or parts[0].row == compound.row:
        return None
    if is_docstring(parts[0]):
        return after(operator, parts[0], lines, weight, note)
    return before(operator, parts[0], lines, weight, note)


def around(operator: str, node: Node, lines: str, weight: float) -> Iterator[Proposal]:
    """`lines` put before and after a simple statement; before, after, first and last in a compound one."""
    made: list[Proposal | None] = []
    if node.kind in COMPOUND:
        made.append(first_in(operator, node, lines, weight))
        if node.kind in LOOPS | {"if_statement"}:
            made.append(before(operator, node, lines, weight * 0.6))
            made.append(after(operator, node, lines, weight * 0.8))
            body = block(node)
            if node.kind in LOOPS and body is not None and body.parts and body.parts[-1].kind not in ENDS:
                made.append(after(operator, body.parts[-1], lines, weight))
    elif alone(node):
        made.append(before(operator, node, lines, weight))
        if node.kind not in ENDS:
            made.append(after(operator, node, lines, weight * 0.9))
    yield from (proposal for proposal in made if proposal is not None)


def indented(lines: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in lines.split("\n"))


def instead(statement: Node, lines: str) -> tuple[int, int, str]:
    """The edit that puts `lines` (indented from 0) in the place of the statement's own lines; "" takes them out.

    It takes the line break before with it, not the one after, so that a line can be put right after it."""
    syntax = statement.syntax
    row = syntax.row_of(max(statement.start, text_end(statement) - 1))
    text = indented(lines, syntax.indent(statement)) if lines else ""
    if statement.row > 0:
        return syntax.line_end(statement.row - 1), syntax.line_end(row), "\n" + text if lines else ""
    if lines:
        return 0, syntax.line_end(row), text
    return 0, syntax.starts[row + 1] if row + 1 < len(syntax.starts) else len(syntax.source.utf8), ""


def dedented(statement: Node) -> str:
    """The statement's lines as they would stand at column 0, line feeds between them."""
    indent = statement.syntax.indent(statement)
    lines = statement.text.rstrip().replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join([lines[0], *(line.removeprefix(indent) for line in lines[1:])])
