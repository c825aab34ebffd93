"""Light syntax nodes that know their parent: what every language's tree is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deskagent.repair.syntax import Syntax


class Node:
    """A syntax node: `kind` and `field` are tree-sitter's, offsets count bytes of the UTF-8 text, rows from 0."""

    __slots__ = (
        "_text",
        "children",
        "end",
        "end_row",
        "field",
        "kind",
        "named",
        "parent",
        "row",
        "start",
        "syntax",
    )

    def __init__(self, syntax: Syntax, kind: str, start: int, end: int, rows: tuple[int, int], named: bool,
                 field: str | None, parent: Node | None) -> None:  # fmt: skip
        self.syntax, self.kind, self.named, self.field, self.parent = syntax, kind, named, field, parent
        self.start, self.end = start, end
        self.row, self.end_row = rows
        self.children: list[Node] = []
        self._text: str | None = None

    @property
    def text(self) -> str:
        if self._text is None:  # operators ask for the same few texts time and again
            self._text = self.syntax.source.utf8[self.start : self.end].decode("utf-8", "replace")
        return self._text

    @property
    def line(self) -> int:
        """1-based first line."""
        return self.row + 1

    @property
    def parts(self) -> list[Node]:
        """Named children, comments left out."""
        return [child for child in self.children if child.named and child.kind != "comment"]

    def get(self, field: str) -> Node | None:
        """The first child in `field`."""
        for child in self.children:
            if child.field == field:
                return child
        return None

    def all(self, field: str) -> list[Node]:
        return [child for child in self.children if child.field == field and child.kind != "comment"]

    def walk(self) -> Iterator[Node]:
        """This node and all under it, in source order."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def ancestors(self) -> Iterator[Node]:
        """Parents, the nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def inside(self, other: Node) -> bool:
        return other.start <= self.start and self.end <= other.end

    def __repr__(self) -> str:
        return f"<{self.kind} {self.line}: {self.text[:40]!r}>"
