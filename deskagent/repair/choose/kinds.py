"""Signs in types that the code alone shows: returns unlike the others, values against their annotations."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from deskagent.repair.choose.returns import allows
from deskagent.repair.choose.targets import Function
from deskagent.repair.choose.types import Sign
from deskagent.repair.choose.view import View


def signs(view: View) -> Iterator[Sign]:
    """All of them."""
    function = view.function
    if function is None:
        return
    before, after = ([*_returned(node)] for node in view.pair)
    known = {kind for kind in before if kind} | ({"None"} if "" in before and _falls_through(view) else set())
    for kind in sorted({kind for kind in after if kind} - known):
        if known and "" not in before:
            yield Sign(
                "mixed",
                1,
                f"returns {_ARTICLE.get(kind, kind)} where the function else returns {_list(known)}",
            )
            break
    came, _ = view.counts(lambda node: _against(node) if isinstance(node, Function) else iter(()))
    for text in came:
        yield Sign("annotated", 1, str(text))


def _falls_through(view: View) -> bool:
    body = getattr(view.pair[0], "body", ())
    return bool(body) and not isinstance(body[-1], ast.Return | ast.Raise)


_ARTICLE = {"None": "None", "number": "a number", "str": "a string", "bool": "a truth value"}


def _list(kinds: set[str]) -> str:
    return " or ".join(_ARTICLE.get(kind, f"a {kind}") for kind in sorted(kinds))


def _returned(node: ast.AST) -> Iterator[str]:
    """Kinds of the values that a function's own returns give, "" for one that can't be told."""
    stack: list[ast.AST] = list(ast.iter_child_nodes(node))
    while stack:
        part = stack.pop()
        if isinstance(part, Function | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(part, ast.Return):
            yield _kind(part.value)
        stack.extend(ast.iter_child_nodes(part))


def _kind(value: ast.expr | None) -> str:
    if value is None:
        return "None"
    for kinds, of in _KINDS:
        if isinstance(value, kinds):
            return of(value)
    return ""


def _constant(value: ast.Constant) -> str:
    kind = type(value.value).__name__
    return {"NoneType": "None", "int": "number", "float": "number"}.get(kind, kind)


_KINDS: tuple[tuple[type[ast.expr] | tuple[type[ast.expr], ...], Callable[..., str]], ...] = (
    (ast.Constant, _constant),
    (ast.JoinedStr, lambda _: "str"),
    ((ast.List, ast.ListComp), lambda _: "list"),
    ((ast.Dict, ast.DictComp), lambda _: "dict"),
    ((ast.Set, ast.SetComp), lambda _: "set"),
    (ast.Tuple, lambda _: "tuple"),
    (ast.Compare, lambda _: "bool"),
)


def _against(function: Function) -> Iterator[str]:
    """Defaults of, and comparisons with, another type than the parameter is annotated with."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    annotated = {a.arg: a.annotation for a in (*plain, *arguments.kwonlyargs) if a.annotation is not None}
    tail = plain[len(plain) - len(arguments.defaults) :]
    pairs: list[tuple[str, ast.expr | None]] = [
        *((a.arg, d) for a, d in zip(tail, arguments.defaults, strict=True)),
        *((a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)),
    ]
    for part in ast.walk(function):
        if (
            isinstance(part, ast.Compare)
            and len(part.ops) == 1
            and not isinstance(part.ops[0], ast.In | ast.NotIn)
        ):
            pairs += [
                (one.id, other)
                for one, other in ((part.left, part.comparators[0]), (part.comparators[0], part.left))
                if isinstance(one, ast.Name)
            ]
    for name, value in pairs:
        if name in annotated and isinstance(value, ast.Constant) and value.value is not None:
            kind = type(value.value).__name__
            if allows(annotated[name], kind) is False:
                yield f"sets {value.value!r} against `{name}: {ast.unparse(annotated[name] or value)}`"
