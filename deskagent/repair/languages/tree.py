"""The tree of one file of a language that has a table: its statements, functions and the lines they own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from deskagent.repair.languages.grammar import Grammar
from deskagent.repair.nodes import Node
from deskagent.repair.source import SourceFile
from deskagent.repair.syntax import Syntax


class Tree(Syntax):
    """As `Syntax` for Python, by the language's own table."""

    data_kinds = frozenset(
        {"lexical_declaration", "variable_declaration", "var_declaration", "const_declaration"}
    )

    def __init__(self, source: SourceFile, grammar: Grammar, parser: Any) -> None:
        self.grammar = grammar
        self._parser = parser
        self.functions = grammar.functions
        self.string_text = grammar.string_text
        super().__init__(source)

    def parse(self, code: bytes) -> Any:
        self._raw = self._parser.parse(code)
        return self._raw

    @cached_property
    def statements(self) -> list[Node]:
        return [node for node in self.root.walk() if self.is_statement(node)]

    def is_statement(self, node: Node) -> bool:
        """Whether `node` stands as a statement of its own, not in the header of another one."""
        parent = node.parent
        return (
            node.named
            and node.kind in self.grammar.statements
            and (node.field or "") not in self.grammar.pauses
            and (parent is None or parent.kind not in self.grammar.pauses)
        )

    @cached_property
    def by_line(self) -> dict[int, Node]:
        found: dict[int, Node] = {}
        for statement in self.statements:
            first, last = self.own_rows(statement)
            for row in range(first, last + 1):
                known = found.get(row + 1)
                if known is None or (statement.inside(known) and statement.row > known.row):
                    found[row + 1] = statement
        return found

    def at(self, line: int) -> list[Node]:
        """The statements of a line: the one it belongs to, and those that begin on the same row inside of it."""
        first = self.by_line.get(line)
        if first is None:
            return []
        return [s for s in self.statements if s is first or (s.inside(first) and s.row == first.row)]

    def block(self, statement: Node) -> Node | None:
        """The first body of a compound statement."""
        for child in statement.children:
            if child.kind in self.grammar.blocks:
                return child
        return None

    def inner(self, block: Node) -> list[Node]:
        """The statements of a body, whatever lists the grammar puts around them."""
        found: list[Node] = []
        for part in block.parts:
            if self.is_statement(part):
                found.append(part)
            elif part.kind == "statement_list":
                found += self.inner(part)
        return found

    def own_rows(self, statement: Node) -> tuple[int, int]:
        if statement.kind not in self.grammar.compound:
            return statement.row, statement.end_row
        for child in statement.children:
            if child.kind in self.grammar.blocks or self.is_statement(child):
                return statement.row, max(
                    statement.row,
                    child.row if child.row == statement.row else child.row - _opens_below(child),
                )
        return statement.row, statement.row

    def own_nodes(self, statement: Node) -> Iterator[Node]:
        stack = [statement]
        while stack:
            node = stack.pop()
            if node is not statement and (
                node.kind in self.grammar.blocks
                or node.kind in self.grammar.skipped
                or self.is_statement(node)
            ):
                continue
            yield node
            stack.extend(reversed(node.children))

    def function_of(self, node: Node) -> Node | None:
        return next((n for n in (node, *node.ancestors()) if n.kind in self.functions), None)

    def name_of(self, function: Node) -> str:
        """A function's name: its own, or that of what it is assigned to."""
        for holder in (function, function.parent):
            for name in ("name", "key", "left"):
                node = holder.get(name) if holder is not None else None
                if node is not None and node is not function:
                    return node.text.rpartition(".")[2]
        return ""

    def is_docstring(self, statement: Node) -> bool:
        """A directive: `"use strict"`."""
        parts = statement.parts
        return (
            statement.kind == "expression_statement"
            and len(parts) == 1
            and parts[0].kind in self.grammar.strings
        )

    def statement_of(self, node: Node) -> Node | None:
        return next((n for n in (node, *node.ancestors()) if self.is_statement(n)), None)

    def siblings(self, statement: Node) -> list[Node]:
        """The statements of the body that `statement` stands in, itself included."""
        return self.inner(statement.parent) if statement.parent is not None else []

    def named_data(self, statement: Node) -> list[str]:
        if self.function_of(statement) is not None or not self.data_kinds & {statement.kind}:
            return []
        if any(node.kind in self.functions for node in statement.walk()):
            return []
        return [n.text for n in statement.walk() if n.kind == "identifier" and n.field == "name"]

    @cached_property
    def unit(self) -> str:
        for node in self.statements:
            block = self.block(node)
            inner = self.inner(block) if block is not None else []
            if inner and inner[0].row > node.row:
                outer, own = self.indent(node), self.indent(inner[0])
                if own.startswith(outer) and len(own) > len(outer):
                    return own[len(outer) :]
        return "\t" if self.grammar.name == "go" else "  "

    @cached_property
    def error(self) -> SyntaxError | None:
        """The first place that the grammar can't make sense of."""
        if not self.broken:
            return None
        node = next((n for n in self.root.walk() if n.kind == "ERROR"), self.root)
        found = SyntaxError("not understood by the grammar")
        found.lineno = node.line
        return found

    @property
    def slipped(self) -> bool:
        return self.broken

    def of(self, *kinds: str) -> list[Node]:
        """All nodes of these kinds, kind by kind in source order."""
        return [node for kind in kinds for node in self._by_kind.get(kind, ())]

    @cached_property
    def _by_kind(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = {}
        for node in self.root.walk():
            found.setdefault(node.kind, []).append(node)
        return found

    def still_parses(self, edits: Any) -> bool:
        """Only what the edits touch is parsed anew."""
        tree = self._raw.copy()
        for edit in sorted(edits, key=lambda edit: -edit.start):
            ending = self.source.newline_at(edit.start) if "\n" in edit.new else "\n"
            new = edit.new.replace("\n", ending).encode("utf-8", "replace")
            start = self._point(edit.start)
            lines = new.count(b"\n")
            column = len(new) - new.rfind(b"\n") - 1 if lines else start[1] + len(new)
            tree.edit(
                start_byte=edit.start,
                old_end_byte=edit.end,
                new_end_byte=edit.start + len(new),
                start_point=start,
                old_end_point=self._point(edit.end),
                new_end_point=(start[0] + lines, column),
            )
        return not self._parser.parse(self.source.edited(edits), tree).root_node.has_error

    def _point(self, offset: int) -> tuple[int, int]:
        row = self.row_of(offset)
        return row, offset - self.starts[row]


def _opens_below(child: Node) -> int:
    """1 for a body that begins on a row of its own."""
    return 0 if child.syntax.source.utf8[child.start : child.start + 1] == b"{" else 1
