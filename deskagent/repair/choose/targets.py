"""Which functions an edit bears on, and where they stand in another version of the file."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Target:
    """A function by project-relative path and dotted name in the module (`Account.is_overdrawn`)."""

    path: str
    name: str

    @property
    def short(self) -> str:
        """Its own name."""
        return self.name.rpartition(".")[2]


def parse(code: bytes) -> ast.Module | None:
    """The module, None where our own Python can't read it."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Every function outside of other functions, methods included, with its dotted name."""
    stack: list[tuple[str, ast.AST]] = [("", tree)]
    while stack:
        prefix, node = stack.pop(0)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield f"{prefix}{child.name}", child
            elif isinstance(child, ast.ClassDef):
                stack.append((f"{prefix}{child.name}.", child))
            elif isinstance(child, ast.stmt | ast.excepthandler):  # under `if`, `try`, `with`
                stack.append((prefix, child))


def first_line(function: Function) -> int:
    """1-based line where the function's code object says it begins: its first decorator's, if it has any."""
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def lines_of(code: bytes) -> Mapping[str, int]:
    """Dotted name → first line, for the functions of a file. Of two of one name the last counts."""
    tree = parse(code)
    return {name: first_line(node) for name, node in functions(tree)} if tree else {}


def at_line(code: bytes, line: int, short: str) -> str | None:
    """The dotted name of the function whose code begins at `line`."""
    tree = parse(code)
    found = [n for n, f in functions(tree) if first_line(f) == line and f.name == short] if tree else []
    return found[0] if found else None


def touched(path: str, before: bytes, after: bytes) -> tuple[Target, ...]:
    """The functions that differ; for data of a module or class, those of the file that use its names, else all
    of them."""
    old = parse(before)
    if old is None or parse(after) is None or before == after:
        return ()
    first, last = changed_rows(before, after)
    known = list(functions(old))
    inside = [n for n, f in known if first_line(f) <= first + 1 and last <= (f.end_lineno or f.lineno)]
    if inside:
        return tuple(Target(path, name) for name in inside)
    within = [n for n, f in known if first < (f.end_lineno or 0) and first_line(f) <= last]
    if within:
        return tuple(Target(path, name) for name in within)
    names = _bound(old, first, last)
    using = [n for n, f in known if names & {getattr(x, "id", getattr(x, "attr", "")) for x in ast.walk(f)}]
    return tuple(Target(path, name) for name in using or [n for n, _ in known])


def changed_rows(before: bytes, after: bytes) -> tuple[int, int]:
    """0-based first row and the row after the last one of `before` that differ."""
    one, two = before.splitlines(), after.splitlines()
    same = sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], zip(one, two, strict=False)))
    most = min(len(one), len(two)) - same
    tail = zip(reversed(one), reversed(two), strict=False)
    same_end = sum(1 for _ in itertools.takewhile(lambda p: p[0] == p[1], itertools.islice(tail, most)))
    return same, max(same + 1, len(one) - same_end)


def _bound(tree: ast.Module, first: int, last: int) -> set[str]:
    """Names that the statements on rows [first, last) bind, outside of functions."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= last and first < (node.end_lineno or node.lineno):
            if isinstance(node, ast.ClassDef):
                names.add(node.name)
            names |= {
                x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
            }
    return names
