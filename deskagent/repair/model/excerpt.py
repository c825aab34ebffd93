"""The part of a file that a model is shown for a place, and an edit of it in the words that the model answers in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deskagent.repair.nodes import Node
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Edit

MOST_LINES, MOST_LETTERS = 60, 2000
"""As in what our checkpoints are taught; a line counts for four letters more than it has."""
_BLOCK = 12
"""Where a function is longer, or there is none, so many lines share an excerpt, which is what stands around them."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Whole lines of a file. start, end: bytes of its UTF-8 text, the last line end included."""

    path: str
    start: int
    end: int
    text: str

    def edited(self, edits: Iterable[Edit]) -> str | None:
        """The text after those of `edits` that lie in it; None where none does. An import that an edit needs stands
        outside of most excerpts and goes unsaid."""
        code = self.text.encode()
        inside = [e for e in edits if e.path == self.path and self.start <= e.start <= e.end <= self.end]
        for edit in sorted(inside, key=lambda edit: (edit.start, edit.end), reverse=True):
            code = code[: edit.start - self.start] + edit.new.encode() + code[edit.end - self.start :]
        return code.decode("utf-8", "replace") if inside else None


def excerpt_of(syntax: Syntax, line: int) -> Excerpt:
    """What is shown for a 1-based line: the outermost function around it that is short enough, else some lines."""
    node = syntax.by_line.get(line)
    rows = [(_head(f).row, f.end_row) for f in _functions(syntax, node)] if node is not None else []
    fitting = [(first, last) for first, last in rows if _fits(syntax, first, last)]
    first, last = fitting[-1] if fitting else _around(syntax, line - 1, rows[0] if rows else None)
    start, end = syntax.starts[first], _end(syntax, last)
    text = syntax.source.utf8[start:end].decode("utf-8", "replace")
    return Excerpt(syntax.source.path, start, end, text)


def _around(syntax: Syntax, row: int, within: tuple[int, int] | None) -> tuple[int, int]:
    """First and last row of what is shown of a place in a function that is too long, or in none."""
    top, bottom = within or (0, len(syntax.starts) - 1)
    first = top + (row - top) // _BLOCK * _BLOCK
    last = min(bottom, first + _BLOCK - 1)
    while True:
        before = first, last
        if first > top and _fits(syntax, first - 1, last):
            first -= 1
        if last < bottom and _fits(syntax, first, last + 1):
            last += 1
        if (first, last) == before:
            break
    return first, last


def _fits(syntax: Syntax, first: int, last: int) -> bool:
    count = last - first + 1
    return count <= MOST_LINES and _end(syntax, last) - syntax.starts[first] + 4 * count <= MOST_LETTERS


def _end(syntax: Syntax, row: int) -> int:
    """Where a row ends, its line end included."""
    return syntax.starts[row + 1] if row + 1 < len(syntax.starts) else len(syntax.source.utf8)


def shown(text: str) -> str:
    """An excerpt's text as the model reads it: line feeds alone, none at the end."""
    return text.replace("\r\n", "\n").rstrip("\n")


def _functions(syntax: Syntax, node: Node) -> Iterator[Node]:
    """The functions around a node, the innermost first."""
    function = syntax.function_of(node)
    while function is not None:
        yield function
        function = syntax.function_of(function.parent) if function.parent is not None else None


def _head(function: Node) -> Node:
    """A function with its decorators."""
    parent = function.parent
    return parent if parent is not None and parent.kind == "decorated_definition" else function
