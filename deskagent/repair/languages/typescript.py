"""TypeScript's table: JavaScript's, with what its own grammar names otherwise."""

from __future__ import annotations

from dataclasses import replace

from deskagent.repair.languages import javascript

GRAMMAR = replace(
    javascript.GRAMMAR,
    name="typescript",
    simple=javascript.GRAMMAR.simple
    | {"interface_declaration", "type_alias_declaration", "enum_declaration"},
    skipped=javascript.GRAMMAR.skipped
    | {"type_predicate", "predefined_type", "accessibility_modifier", "implements_clause"},
)
TSX = replace(GRAMMAR, name="tsx")
