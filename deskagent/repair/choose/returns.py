"""What annotations and callers expect of the values that a function returns."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence

from deskagent.repair.choose.stated import Site

_SCALARS = frozenset({"int", "float", "complex", "bool", "NoneType"})
_BUILTIN = {
    name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and name[:1].islower()
} | {"NoneType": type(None)}
_LAZY = frozenset({"generator", "map", "filter", "zip", "enumerate", "reversed"})
_ITERABLES = _LAZY | {"list", "tuple", "set", "frozenset", "dict", "str", "bytes", "bytearray", "range"}
_NAMED: Mapping[str, frozenset[str]] = {
    "int": frozenset({"int", "bool"}),
    "float": frozenset({"float", "int", "bool"}),
    "complex": frozenset({"complex", "float", "int", "bool"}),
    "List": frozenset({"list"}),
    "Dict": frozenset({"dict"}),
    "Set": frozenset({"set"}),
    "FrozenSet": frozenset({"frozenset"}),
    "Tuple": frozenset({"tuple"}),
    "Mapping": frozenset({"dict"}),
    "MutableMapping": frozenset({"dict"}),
    "Sequence": frozenset({"list", "tuple", "str", "bytes", "range"}),
    "MutableSequence": frozenset({"list", "bytearray"}),
    "Iterator": _LAZY,
    "Generator": frozenset({"generator"}),
    "Iterable": _ITERABLES,
    "Collection": _ITERABLES - _LAZY,
}
_TAKES_ITERABLE = (
    (_ITERABLES - {"range", "generator"})
    | {"sorted", "sum", "len", "any", "all", "min", "max", "iter", "join"}
) - {"str", "bytes", "bytearray"}  # these take anything


def allows(annotation: ast.expr | None, kind: str) -> bool | None:
    """Whether a value whose type is named `kind` is what an annotation asks for; None where that can't be told."""
    match annotation:
        case ast.Constant(value=None):
            return kind == "NoneType"
        case ast.Constant(value=str(text)):
            try:
                return allows(ast.parse(text, mode="eval").body, kind)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _either([allows(left, kind), allows(right, kind)])
        case ast.Subscript(value=value, slice=inner):
            name = getattr(value, "id", getattr(value, "attr", ""))
            if name == "Optional":
                return True if kind == "NoneType" else allows(inner, kind)
            if name == "Union":
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return _either([allows(part, kind) for part in parts])
            return allows(value, kind)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            known = _NAMED.get(name) or (frozenset({name}) if name in _BUILTIN and name != "object" else None)
            if known is None:
                return None
            return True if kind in known else False if kind in _BUILTIN or kind == "generator" else None
        case _:
            return None


def _either(answers: Sequence[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def uses(sites: Sequence[Site]) -> frozenset[str]:
    """How callers use what a function returns: "iterated", "subscripted", "none" (they ask whether it is None), or
    ".name" for an attribute."""
    return frozenset(use for site in sites if (use := _use(site)) is not None)


def _use(site: Site) -> str | None:
    match site.parent:
        case ast.For(iter=value) | ast.AsyncFor(iter=value) | ast.comprehension(iter=value):
            return "iterated" if value is site.call else None
        case ast.Starred():
            return "iterated"
        case ast.Subscript(value=value):
            return "subscripted" if value is site.call else None
        case ast.Attribute(attr=name):
            return f".{name}"
        case ast.Call(func=callee, args=arguments) if site.call in arguments:
            name = getattr(callee, "id", getattr(callee, "attr", ""))
            return "iterated" if name in _TAKES_ITERABLE and len(arguments) == 1 else None
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return "none"
        case ast.Assign(targets=[ast.Tuple()]):
            return "iterated"
        case _:
            return None


def fits(use: str, kind: str) -> bool:
    """Whether a value whose type is named `kind` stands that use. Of types that aren't built in, all do."""
    if use == "iterated":
        return kind not in _SCALARS
    if use == "subscripted":
        return kind not in _SCALARS | {"set", "frozenset", "generator"}
    return not (use.startswith(".") and kind in _BUILTIN and not hasattr(_BUILTIN[kind], use[1:]))
