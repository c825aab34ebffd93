"""Signs in names: what the request and the failing tests speak of, and arguments that go to the wrong parameter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from deskagent.repair.choose.targets import functions
from deskagent.repair.choose.types import Sign
from deskagent.repair.choose.view import View
from deskagent.repair.types import TestResult

_COMPARED = re.compile(r"assert (.+?) == (.+?)$|AssertionError: (.+?) != (.+?)$", re.MULTILINE)
_VALUES = ast.Constant | ast.List | ast.Tuple | ast.Dict
_NAME = re.compile(r"[^\W\d]\w{2,}")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def signs(view: View, failing: Sequence[TestResult]) -> Iterator[Sign]:
    """All of them."""
    came, _ = view.names
    asked = sorted(came & view.hints.request)
    if asked:
        yield Sign("asked", 1, f"uses what the request names: {', '.join(asked)}")
    told = sorted((came & (view.hints.message | view.hints.exceptions | view.hints.meant)) - set(asked))
    if told:
        yield Sign("told", 1, f"uses what the failing tests tell of: {', '.join(told[:3])}")
    if view.function is not None:
        written = set(_NAME.findall(ast.get_docstring(view.function) or ""))
        documented = sorted((came & written) - set(asked) - set(told) - _read_before(view))
        if documented:
            yield Sign("documented", 1, f"uses what the docstring speaks of: {', '.join(documented[:3])}")
    if view.function is not None and any(_named_after(r.id, view.function.name) for r in failing):
        yield Sign("tested", 1, f"edits `{view.function.name}`, which a failing test is named after")
    yield from _expected(view, failing)
    yield from _crossed(view)


def _read_before(view: View) -> set[str]:
    """Names that the function uses already: one more use of them says little."""
    return {
        part.id
        for part in ast.walk(view.pair[0])
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def _expected(view: View, failing: Sequence[TestResult]) -> Iterator[Sign]:
    """A plain value, returned now, that stands on one side of a failing comparison."""
    texts = {text for r in failing for found in _COMPARED.findall(r.message) for text in found}

    def found(node: ast.AST) -> Iterator[str]:
        for part in ast.walk(node):
            if isinstance(part, ast.Return) and isinstance(part.value, _VALUES):
                yield ast.unparse(part.value)

    came, _ = view.counts(found)
    for value in came:
        if value in texts:
            yield Sign("expected", 1, f"returns {value}, which a failing test expects")


def _named_after(test: str, function: str) -> bool:
    words = _WORD.findall(function)
    return bool(words) and {w.lower() for w in words} <= {w.lower() for w in _WORD.findall(test)}


def _crossed(view: View) -> Iterator[Sign]:
    """Arguments that bear the name of another parameter than theirs; calls in this file to its own functions."""
    parameters = dict(_parameters(view.new))

    def found(node: ast.AST) -> Iterator[object]:
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                yield from _crossings(call, parameters)

    came, went = view.counts(found)
    more = sum(came.values()) - sum(went.values())
    if more > 0:
        yield Sign("crossed", more, f"hands {', '.join(map(str, came))}")
    elif more < 0:
        yield Sign("crossed", more, f"no longer hands {', '.join(map(str, went))}")


def _crossings(call: ast.Call, parameters: Mapping[str, Sequence[str]]) -> Iterator[str]:
    callee = getattr(call.func, "id", getattr(call.func, "attr", ""))
    names = parameters.get(callee, ())
    for argument, name in zip(call.args, names, strict=False):
        own = getattr(argument, "id", getattr(argument, "attr", ""))
        if own != name and own in names:
            yield f"`{own}` to `{callee}` as `{name}`"


def _parameters(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Name → parameters by position, of functions, and of classes by `__init__` or their annotated fields."""
    for name, node in functions(tree):
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        owner, _, own = name.rpartition(".")
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        yield (owner.rpartition(".")[2] if own == "__init__" else own), names
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.decorator_list:
            fields = [
                s.target.id
                for s in node.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            if fields:
                yield node.name, fields
