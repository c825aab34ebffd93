"""What kind of edit a fix is, told by the smallest part in which the syntax trees differ: for counting."""

from __future__ import annotations

import ast
from collections.abc import Sequence

_LEAVES = (ast.Return, ast.Continue, ast.Break)


def kind_of_fix(before: str, after: str) -> str:
    """Of one file's text before and after. Errors: SyntaxError, ValueError."""
    one, other = _apart(ast.parse(before), ast.parse(after))
    if type(one) is not type(other):
        return _expression(one, other)
    for name in one._fields:
        old, new = _listed(one, name), _listed(other, name)
        if not any(isinstance(node, ast.stmt) for node in (*old, *new)) or _same_all(old, new):
            continue
        head = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if not _same(a, b)), None)
        head = min(len(old), len(new)) if head is None else head
        tail = min(len(old), len(new)) - head
        back = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
        tail = next((i for i, (a, b) in enumerate(back) if not _same(a, b)), tail)
        gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
        if not gone:
            return _put_in([node for node in come if isinstance(node, ast.stmt)])
        if not come:
            return "taken out"
        if len(gone) == 1 and len(come) == 1 and isinstance(come[0], (ast.If, ast.Try, ast.With)):
            return f"put under {type(come[0]).__name__}"
        return "statements anew"
    return _expression(one, other)


def _put_in(body: Sequence[ast.stmt]) -> str:
    node = body[0]
    if isinstance(node, ast.If):
        if isinstance(node.body[0], ast.Raise):
            return "put in: guard that raises"
        if isinstance(node.body[-1], _LEAVES):
            return "put in: guard that leaves"
        if isinstance(node.body[0], ast.Assign):
            return "put in: if … assign"
        return "put in: branch"
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        return "put in: function or class"
    if isinstance(node, ast.Assign):
        target = ast.dump(node.targets[0]).replace("Store()", "Load()")
        return "put in: x = f(x)" if target in ast.dump(node.value) else "put in: assignment"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return "put in: call"
    return "put in: other"


def _expression(one: ast.AST, other: ast.AST) -> str:
    if isinstance(one, ast.Constant) and isinstance(other, ast.Constant):
        return "text" if isinstance(one.value, (str, bytes)) else "constant"
    inner, outer = ast.dump(one), ast.dump(other)
    if isinstance(other, ast.BoolOp) and (inner in outer or isinstance(one, ast.BoolOp)):
        return "condition: more terms" if len(outer) > len(inner) else "condition: fewer terms"
    if isinstance(other, ast.Call) and inner in outer and isinstance(one, ast.expr):
        return "wrapped in a call"
    if isinstance(one, ast.Call) and outer in inner:
        return "unwrapped"
    if isinstance(one, ast.Call) and isinstance(other, ast.Call):
        if ast.dump(one.func) == ast.dump(other.func):
            more = len(other.args) + len(other.keywords) - len(one.args) - len(one.keywords)
            return (
                "call: argument more" if more > 0 else "call: argument fewer" if more else "call: arguments"
            )
        return "call of another"
    if isinstance(one, (ast.Compare, ast.cmpop)) and isinstance(other, (ast.Compare, ast.cmpop)):
        return "comparison"
    if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(other, (ast.Name, ast.Attribute)):
        return "name"
    if isinstance(one, (ast.List, ast.Tuple, ast.Set, ast.Dict)) and type(one) is type(other):
        return "collection"
    if inner in outer and isinstance(one, ast.expr):
        return "operand or branch more"
    if isinstance(one, ast.stmt):
        return "statement anew" if type(one) is not type(other) else f"another {type(one).__name__}"
    return "expression anew"


def _apart(one: ast.AST, other: ast.AST) -> tuple[ast.AST, ast.AST]:
    """The smallest parts in which two trees differ."""
    while type(one) is type(other):
        pairs = [(_listed(one, name), _listed(other, name)) for name in one._fields]
        if any(len(a) != len(b) for a, b in pairs):
            return one, other
        unlike = [(a, b) for olds, news in pairs for a, b in zip(olds, news, strict=True) if not _same(a, b)]
        left, right = unlike[0] if len(unlike) == 1 else (None, None)
        if not isinstance(left, ast.AST) or not isinstance(right, ast.AST):
            return one, other
        one, other = left, right
    return one, other


def _same_all(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and all(map(_same, one, other))


def _listed(node: ast.AST, name: str) -> list[object]:
    value = getattr(node, name, None)
    return value if isinstance(value, list) else [value]


def _same(one: object, other: object) -> bool:
    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
        return ast.dump(one) == ast.dump(other)
    return one == other
