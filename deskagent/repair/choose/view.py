"""A patch beside the unedited code: syntax trees, the function it is in, what came and what went."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from deskagent.repair.choose.targets import Function, changed_rows, first_line, functions, parse
from deskagent.repair.hints import Hints
from deskagent.repair.search import Trial


@dataclass(frozen=True)
class View:
    """One patched file of a trial; both versions parse. `old` and `new` are whole modules."""

    trial: Trial
    path: str
    before: bytes
    after: bytes
    old: ast.Module
    new: ast.Module
    hints: Hints

    @cached_property
    def rows(self) -> tuple[int, int]:
        return changed_rows(self.before, self.after)

    @cached_property
    def pair(self) -> tuple[ast.AST, ast.AST]:
        """The innermost named function that differs, before and after; the modules where it is none."""
        first, last = self.rows
        after = dict(functions(self.new))
        best: tuple[ast.AST, ast.AST] = self.old, self.new
        for name, node in functions(self.old):
            if first_line(node) <= first + 1 and last <= (node.end_lineno or 0) and name in after:
                best = node, after[name]
        return best

    @property
    def function(self) -> Function | None:
        """The edited function as the patch leaves it."""
        node = self.pair[1]
        return node if isinstance(node, Function) else None

    def counts(self, of: Callable[[ast.AST], Iterator[object]]) -> tuple[Counter[object], Counter[object]]:
        """What `of` finds in the function after but not before, and before but not after."""
        old, new = (Counter(of(node)) for node in self.pair)
        return new - old, old - new

    @cached_property
    def names(self) -> tuple[set[str], set[str]]:
        """Names (of variables, attributes, keywords) that came and went."""
        came, went = self.counts(_names)
        return {str(n) for n in came}, {str(n) for n in went}


def view(trial: Trial, read: Callable[[str], bytes], hints: Hints) -> View | None:
    """The trial's Python file that its candidate names, None where our Python can't read it."""
    path = trial.candidate.path
    if not path.endswith(".py") or path not in trial.files:
        return None
    before, after = read(path), trial.files[path]
    old, new = parse(before), parse(after)
    return View(trial, path, before, after, old, new, hints) if old and new else None


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        for field in ("id", "attr", "arg"):
            name = getattr(part, field, None)
            if isinstance(name, str):
                yield name
