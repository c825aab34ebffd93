"""The part of a file that a model is shown for a place, and an edit of it in the words that the model answers in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deskagent.repair.nodes import Node
from deskagent.repair.syntax import Syntax
from deskagent.repair.types import Edit


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
    """What is shown for a 1-based line, by the rule that our checkpoints are taught with."""
    from engine.prompt.excerpt import rows

    node = syntax.by_line.get(line)
    functions = _functions(syntax, node) if node is not None else ()
    starts = [*syntax.starts, len(syntax.source.utf8)]
    first, last = rows(starts, line - 1, [(_head(each).row, each.end_row + 1) for each in functions])
    start, end = starts[first], starts[last]
    text = syntax.source.utf8[start:end].decode("utf-8", "replace")
    return Excerpt(syntax.source.path, start, end, text)


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
