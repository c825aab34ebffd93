"""Candidates' raw material for one file: which places a line has, and what the language's table proposes there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deskagent.repair.candidates.base import Proposal
from deskagent.repair.hints import Hints
from deskagent.repair.languages.lexer import lex
from deskagent.repair.languages.place import Place
from deskagent.repair.languages.tree import Tree
from deskagent.repair.tokens import TokenStream


class CodeFile:
    """A file of a language that has a table."""

    def __init__(self, tree: Tree) -> None:
        self.source = tree.source
        self.syntax = tree
        self.stream = TokenStream(tree.source, lex)

    @property
    def priors(self) -> Mapping[str, float]:
        return self.syntax.grammar.priors

    def places(self, line: int, hints: Hints, attributes: frozenset[str]) -> list[Place]:
        """The statements at a 1-based line, none for what can't be edited."""
        return [Place(self.syntax, s, hints) for s in self.syntax.at(line) if not self.syntax.is_docstring(s)]

    def propose(self, place: Place, line: int) -> Iterator[Proposal]:
        """Every edit the table knows for one statement: neither checked nor without duplicates."""
        table = place.grammar.table
        for operator in table.get("statement", ()):
            yield from operator(place.statement, place)
        for node in place.nodes:
            if node.named:
                for operator in table.get(node.kind, ()):
                    yield from operator(node, place)
