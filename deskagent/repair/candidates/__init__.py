"""Typed edits on the syntax tree: one module a family, each a table from node kinds to operators."""
