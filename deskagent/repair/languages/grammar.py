"""What a language's table says: node kinds by what they are for, operators, names that are mistaken for others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deskagent.repair.languages.place import Operator

Changes = Mapping[str, Sequence[tuple[str, str, float]]]
"""Token → (another token, kind of edit, how likely beside the others of that kind)."""


@dataclass(frozen=True)
class Grammar:
    """One language. Kinds and fields are those of its tree-sitter grammar.

    `name`          as in `repo.languages`;
    `compound`      statements with a body of their own, `simple` those without;
    `functions`     whatever opens a scope for parameters; `blocks` the bodies, `pauses` what a header may hold
                    that looks like a statement and is none (`i = 0` of a loop), by its field or its parent's kind;
    `member`        (kind, field of the object, field of the name) of `a.b`; `index` likewise of `a[i]`;
    `skipped`       kinds in which nothing is edited (types, comments);
    `writes`        (kind, field) under which an identifier gets a value; `declares` those that make a name too;
    `precedence`    operator or kind → how tightly it binds;
    `changes`       of operators; `members` and `words` of names after a dot and of free ones;
    `table`         node kind → operators; "statement" stands for the suspect statement itself.
    """

    name: str
    compound: frozenset[str]
    simple: frozenset[str]
    functions: frozenset[str]
    loops: frozenset[str]
    blocks: frozenset[str]
    pauses: frozenset[str]
    member: tuple[str, str, str]
    index: tuple[str, str, str]
    arguments: str
    skipped: frozenset[str]
    strings: frozenset[str]
    string_text: frozenset[str]
    numbers: frozenset[str]
    writes: frozenset[tuple[str, str]]
    declares: frozenset[tuple[str, str]]
    precedence: Mapping[str, int]
    changes: Changes
    members: Mapping[str, Sequence[tuple[str, float]]]
    words: Mapping[str, Sequence[tuple[str, float]]]
    literals: Mapping[str, str]
    nothing: str
    end: str
    priors: Mapping[str, float]
    table: Mapping[str, Sequence[Operator]] = field(default_factory=dict)

    @property
    def statements(self) -> frozenset[str]:
        return self.compound | self.simple

    def parser(self) -> Any | None:
        """A parser, None where the wheel is missing."""
        from deskagent.repo.languages import BY_NAME, tools

        known = tools(BY_NAME[self.name])
        if known is None:
            return None
        import tree_sitter

        return tree_sitter.Parser(known[0])
