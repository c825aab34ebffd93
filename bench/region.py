"""The part of a file that a fix changes, and whether edits make the same of it: compared as syntax trees."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass

from judge import dumped

from deskagent.repair.types import Edit


@dataclass(frozen=True)
class Region:
    """The lines that hold all that a fix changes, with a statement to either side: bytes [start, end) of the file
    before, and the shape they have after. To parse a whole file for every candidate would take minutes."""

    start: int
    end: int
    indented: bool
    wanted: str

    @classmethod
    def of(cls, before: bytes, after: bytes) -> Region:
        whole = cls(0, len(before), False, dumped(ast.parse(after).body))
        try:
            old, new = (_undocumented(ast.parse(code).body) for code in (before, after))
        except SyntaxError:
            return whole
        while True:
            one, other = ([dumped([node]) for node in body] for body in (old, new))
            pairs_ = list(zip(one, other, strict=False))
            first = next((i for i, (a, b) in enumerate(pairs_) if a != b), len(pairs_))
            rest = pairs_[first:]
            last = next((i for i in range(len(rest)) if one[-1 - i] != other[-1 - i]), len(rest))
            inner = old[first : len(old) - last], new[first : len(new) - last]
            if not all(
                len(body) == 1 and isinstance(body[0], ast.ClassDef) for body in inner
            ) or not _same_head(inner[0][0], inner[1][0]):
                break
            old, new = (_undocumented(body[0].body) for body in inner)  # type: ignore[attr-defined]
        first, last = max(0, first - 1), max(0, last - 1)
        held = old[first : len(old) - last]
        if not held:
            return whole
        lines = before.splitlines(keepends=True)
        begin = min([held[0].lineno, *(d.lineno for d in getattr(held[0], "decorator_list", ()))]) - 1
        stop = len(lines) if not last and not held[0].col_offset else held[-1].end_lineno or begin
        start = sum(map(len, lines[:begin]))
        end = start + sum(map(len, lines[begin:stop]))
        return cls(start, end, held[0].col_offset > 0, dumped(new[first : len(new) - last]))

    def shape(self, before: bytes, edits: Sequence[Edit]) -> str | None:
        """What the region becomes by edits; None where one lies outside or the code is broken: not the fix."""
        if any(edit.start < self.start or edit.end > self.end for edit in edits):
            return None
        text = before[self.start : self.end]
        for edit in sorted(edits, key=lambda edit: -edit.start):
            text = text[: edit.start - self.start] + edit.new.encode() + text[edit.end - self.start :]
        try:
            body = ast.parse(b"if 1:\n" + text if self.indented else text).body
        except SyntaxError:
            return None
        return dumped(body[0].body if self.indented else body)  # type: ignore[attr-defined]


def _undocumented(body: list[ast.stmt]) -> list[ast.stmt]:
    return [
        node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def _same_head(one: ast.AST, other: ast.AST) -> bool:
    heads = [copy.copy(node) for node in (one, other)]
    for head in heads:
        head.body = []  # type: ignore[attr-defined]
    return ast.dump(heads[0]) == ast.dump(heads[1])
