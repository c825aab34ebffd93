"""Whether a result is the developer's: equal up to formatting, for whole trees and for single patches."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

Tree = Mapping[str, bytes]

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_TOKEN = re.compile(r"\w+|[^\w\s]")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def text_of(data: bytes) -> str:
    """Source bytes as text; whatever isn't UTF-8 is read byte by byte, so that nothing is lost."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


class _Plain(ast.NodeTransformer):
    """Two spellings of one thing made equal: docstrings out, `a > b` as `b < a`, keyword arguments in order of their
    names, loop names of list comprehensions numbered."""

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        bound = [n.id for part in node.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)]
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and name.id in bound:
                name.id = f"<{bound.index(name.id)}>"
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        turned = _TURNED.get(type(node.ops[0]))
        if len(node.ops) == 1 and turned is not None:
            node.left, node.comparators[0], node.ops[0] = node.comparators[0], node.left, turned()
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if all(keyword.arg is not None for keyword in node.keywords):
            node.keywords.sort(key=lambda keyword: keyword.arg or "")
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if _is_text(node) else self.generic_visit(node)


def shape(source: bytes) -> str:
    """The syntax tree of Python code without layout, comments and docstrings. Errors: SyntaxError, ValueError."""
    return dumped([ast.parse(source)])


def dumped(nodes: Sequence[ast.AST]) -> str:
    """The shape of trees that were parsed, which stay as they are."""
    found = []
    for node in nodes:
        plain = _Plain().visit(copy.deepcopy(node))
        for part in ast.walk(plain) if plain is not None else ():
            if getattr(part, "body", None) == []:
                part.body = [ast.Pass()]  # a docstring was all there was
        found.append("" if plain is None else ast.dump(plain))
    return "\n".join(filter(None, found))


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or another string that stands alone and does nothing."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def same_code(path: str, one: bytes, other: bytes) -> bool:
    """Equal syntax trees (see `_Plain`) for Python, equal tokens for all else."""
    if one == other:
        return True
    if PurePosixPath(path).suffix == ".py":
        try:
            return shape(one) == shape(other)
        except (SyntaxError, ValueError):
            return False
    return _TOKEN.findall(text_of(one)) == _TOKEN.findall(text_of(other))


def right(before: Tree, after: Tree, answers: tuple[Tree, ...]) -> bool:
    """Whether `after` is one of the `answers` applied to `before`: nothing is missing, nothing else changed.

    `before` and `after` hold whole trees, an answer only the files that it changes.
    """
    for answer in answers:
        wanted = {**before, **answer}
        if wanted.keys() == after.keys() and all(same_code(p, wanted[p], after[p]) for p in wanted):
            return True
    return False


class PatchDoesNotApply(ValueError):
    """The diff names lines that the file doesn't have."""


def apply_diff(before: Tree, diff: str) -> dict[str, bytes]:
    """`before` with a unified diff (paths after a/ and b/) applied; PatchDoesNotApply where it doesn't fit.

    The changed files come back as UTF-8 without a mark, whatever they were: good enough to compare code.
    """
    after = dict(before)
    lines: list[str] = []
    path, shift, at, left = "", 0, 0, 0
    for raw in diff.split("\n"):
        line = raw.rstrip("\r")
        if left <= 0 and line.startswith("+++ "):
            path = line[4:].split("\t")[0].removeprefix("b/")
            if path not in before:
                raise PatchDoesNotApply(f"no file {path}")
            lines, shift = text_of(before[path]).splitlines(), 0
        elif match := _HUNK.match(line):
            count = int(match[2] or 1)
            at = int(match[1]) - (1 if count else 0) + shift
            left = count
        elif path and line[:1] in (" ", "-", "+"):
            if line[0] == "+":
                lines.insert(at, line[1:])
                shift += 1
                at += 1
            elif left > 0:
                if at >= len(lines) or lines[at].strip() != line[1:].strip():
                    raise PatchDoesNotApply(f"{path}:{at + 1} is not {line[1:]!r}")
                left -= 1
                if line[0] == "-":
                    del lines[at]
                    shift -= 1
                else:
                    at += 1
            after[path] = _recoded("\n".join(lines) + "\n")
    return after


def _recoded(text: str) -> bytes:
    """UTF-8 bytes of `text`, a coding line that would say otherwise made harmless."""
    return re.sub(r"^(#.*)coding[:=]\s*[-\w.]+", r"\1", text, count=1, flags=re.MULTILINE).encode()
