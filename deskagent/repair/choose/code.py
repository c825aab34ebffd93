"""Signs in the code that a patch makes: what hardly anyone would write, or leaves things lying about."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from deskagent.repair.choose.types import Sign
from deskagent.repair.choose.view import View

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BROAD = frozenset({"Exception", "BaseException", "LookupError", "ArithmeticError", "OSError", "ValueError"})
_SELF = frozenset({"self", "cls"})


def signs(view: View) -> Iterator[Sign]:
    """All of them. A sign counts how often a thing is in the function now, less how often it was before."""
    for name, of, text in _COUNTED:
        came, went = view.counts(of)
        more = sum(came.values()) - sum(went.values())
        if more > 0:
            yield Sign(name, more, text.format(", ".join(dict.fromkeys(str(c) for c in came))))
    yield from _unused(view)
    yield from _special(view)
    yield from _literals(view)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for part in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(part, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _dead(node: ast.AST) -> Iterator[str]:
    for block in _blocks(node):
        for number, statement in enumerate(block):
            if isinstance(statement, ast.Expr) and not isinstance(
                statement.value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom | ast.Constant
            ):
                yield ast.unparse(statement)
            if number and isinstance(block[number - 1], _ENDS):
                yield ast.unparse(statement).partition("\n")[0]


def _constant(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Compare | ast.BoolOp):
            sides = [part.left, *part.comparators] if isinstance(part, ast.Compare) else part.values
            shown = [ast.unparse(side) for side in sides]
            lasting = isinstance(part, ast.BoolOp) and any(isinstance(s, ast.Constant) for s in sides[:-1])
            if len(set(shown)) < len(shown) or lasting:
                yield ast.unparse(part)
        elif isinstance(part, ast.If | ast.IfExp) and isinstance(part.test, ast.Constant):
            yield ast.unparse(part.test)
        elif isinstance(part, ast.Assign) and any(
            ast.unparse(t) == ast.unparse(part.value) for t in part.targets
        ):
            yield ast.unparse(part)


def _twice(node: ast.AST) -> Iterator[str]:
    for block in _blocks(node):
        for one, two in itertools.pairwise(block):
            if ast.dump(one) == ast.dump(two):
                yield ast.unparse(one)
    for part in ast.walk(node):
        if (
            isinstance(part, ast.If)
            and part.orelse
            and [*map(ast.dump, part.body)] == [*map(ast.dump, part.orelse)]
        ):
            yield "if " + ast.unparse(part.test)
        if isinstance(part, ast.IfExp) and ast.dump(part.body) == ast.dump(part.orelse):
            yield ast.unparse(part)


def _shifted(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Compare):
            for side in (part.left, *part.comparators):
                if (
                    isinstance(side, ast.BinOp)
                    and isinstance(side.op, ast.Add | ast.Sub)
                    and isinstance(side.right, ast.Constant)
                    and side.right.value == 1
                ):
                    yield ast.unparse(part)


def _statements(node: ast.AST) -> Iterator[str]:
    """A mark for each statement that is lacking: negative counts can't be told, so `_removed` turns it round."""
    for block in _blocks(node):
        for statement in block:
            yield type(statement).__name__


def _alias(node: ast.AST) -> Iterator[str]:
    """`a = b` for a local `b` that is bound to a new collection."""
    made = {
        t.id
        for part in ast.walk(node)
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.List | ast.Dict | ast.Set | ast.Call)
        for t in part.targets
        if isinstance(t, ast.Name)
    }
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in made:
            yield ast.unparse(part)


def _broad(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.ExceptHandler):
            if part.type is None:
                yield "except:"
            for name in ast.walk(part.type) if part.type else ():
                if isinstance(name, ast.Name) and name.id in _BROAD:
                    yield f"except {name.id}"


_COUNTED: tuple[tuple[str, Callable[[ast.AST], Iterator[object]], str], ...] = (
    ("dead", _dead, "leaves code without effect: `{}`"),
    ("constant", _constant, "compares a thing with itself or is always the same: `{}`"),
    ("twice", _twice, "the same twice: `{}`"),
    ("shifted", _shifted, "shifts one side of a comparison: `{}`"),
    ("alias", _alias, "gives one collection two names: `{}`"),
    ("broad", _broad, "catches much: `{}`"),
)


def _unused(view: View) -> Iterator[Sign]:
    old, new = view.pair
    idle_before, idle_after = _idle(old), _idle(new)
    known = _bound(old)
    for name in sorted((idle_after - idle_before) & known):
        yield Sign("idle", 1, f"`{name}` is no longer used")
    for name in sorted(idle_before - idle_after):
        if name in _read(new):
            yield Sign("used", 1, f"`{name}`, which nothing used, is used now")
    removed = sum(1 for _ in _statements(old)) - sum(1 for _ in _statements(new))
    if removed > 0:
        yield Sign("removed", removed, f"removes {removed} statement{'s' if removed > 1 else ''}")


def _bound(node: ast.AST) -> set[str]:
    names = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    return names | {p.id for p in ast.walk(node) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}


def _read(node: ast.AST) -> set[str]:
    return {p.id for p in ast.walk(node) if isinstance(p, ast.Name) and not isinstance(p.ctx, ast.Store)}


def _idle(node: ast.AST) -> set[str]:
    """Parameters and variables that nothing reads. Of a module, its constants alone."""
    names = _bound(node) if not isinstance(node, ast.Module) else set()
    return {name for name in names - _read(node) - _SELF if not name.startswith("_")}


def _special(view: View) -> Iterator[Sign]:
    """A literal of the failing test that is compared with or returned."""

    def found(node: ast.AST) -> Iterator[object]:
        for part in ast.walk(node):
            if isinstance(part, ast.Compare) and any(
                isinstance(op, ast.Eq | ast.NotEq | ast.In) for op in part.ops
            ):
                values = [part.left, *part.comparators]
            elif isinstance(part, ast.Return | ast.IfExp):
                values = [part.value] if isinstance(part, ast.Return) else [part.body, part.orelse]
            else:
                continue
            for value in values:
                if (
                    isinstance(value, ast.Constant)
                    and str(value.value) in view.hints.literals
                    and _telling(value.value)
                ):
                    yield repr(value.value)

    came, _ = view.counts(found)
    for value in came:
        yield Sign("special", 1, f"a case of its own for {value}, which the failing test holds")


def _telling(value: object) -> bool:
    return value not in (0, 1, -1, "", None) and not isinstance(value, bool)


def _literals(view: View) -> Iterator[Sign]:
    """A number or string written out though the module has a constant of that value."""
    constants = {
        repr(s.value.value): s.targets[0].id
        for s in view.old.body
        if isinstance(s, ast.Assign)
        and isinstance(s.targets[0], ast.Name)
        and s.targets[0].id.isupper()
        and isinstance(s.value, ast.Constant)
        and _telling(s.value.value)
    }

    def found(node: ast.AST) -> Iterator[object]:
        return (repr(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant))

    came, _ = view.counts(found)
    for value in came:
        if value in constants:
            yield Sign("literal", 1, f"writes {value} where the module has {constants[str(value)]}")
