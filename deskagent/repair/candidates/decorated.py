"""A decorator that a function's like have and it lacks: `@property`, `@staticmethod`, `@functools.wraps(f)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten
from deskagent.repair.candidates.importing import added
from deskagent.repair.candidates.known import decorators, functions_in, owner_of
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import FUNCTIONS, block, function_of

_TAKES = "positional argument"
_METHOD_VALUE = ("bound method", "'method'", "'function'")
_MOST = 4


def _first(function: Node) -> str:
    signature = function.get("parameters")
    parts = signature.parts if signature is not None else []
    return parts[0].text.partition(":")[0] if parts else ""


def decorate(node: Node, place: Place) -> Iterator[Proposal]:
    """`def area(self)` → `@property` above it, where the failure or the class's other methods ask for it."""
    if node.kind not in FUNCTIONS or any(text.startswith("@property") for text in decorators(node)):
        return
    weights: dict[str, float] = {}
    owner, errors = owner_of(node), "\n".join(place.hints.examples.errors)
    spoken = f"{errors}\n{place.hints.said}\n{sorted(place.hints.literals)}"
    signature, first = node.get("parameters"), _first(node)
    count = len(signature.parts) if signature is not None else 0
    if owner is not None and function_of(owner) is None and function_of(node.parent or node) is None:
        like = [f for f in functions_in(owner) if f is not node]
        held = Counter(text for other in like for text in decorators(other))
        for text, times in held.most_common(_MOST):
            if ".setter" not in text and ".deleter" not in text and "(" not in text:
                weights[text] = 0.25 + 0.1 * min(times, 3)
        if first == "self" and count == 1:
            asked = any(sign in spoken for sign in _METHOD_VALUE)
            weights["@property"] = max(weights.get("@property", 0.0), 1.0 if asked else 0.15)
        elif first == "cls":
            weights["@classmethod"] = 1.0
        elif first != "self":
            weights["@staticmethod"] = 1.0
        if first == "self" and count != 1:
            weights = {text: w for text, w in weights.items() if "property" not in text}
        if first not in {"self", "cls"}:
            weights.pop("@property", None)
            weights.pop("@classmethod", None)
        elif first == "self":
            weights.pop("@staticmethod", None)
            weights.pop("@classmethod", None)
    for text, weight in weights.items():
        if text not in decorators(node):
            yield _above(node, text, weight)


def wraps(node: Node, place: Place) -> Iterator[Proposal]:
    """In a decorator: `@functools.wraps(f)` above the inner function that is given back."""
    outer = node if node.kind in FUNCTIONS else place.function
    first = _first(outer) if outer is not None else ""
    body = block(outer) if outer is not None else None
    if outer is None or body is None or not first:
        return
    inner = node if node.kind in FUNCTIONS and function_of(node.parent or node) is not None else None
    for function in [part for part in body.parts if part.kind in FUNCTIONS] + ([inner] if inner else []):
        around = function_of(function.parent or function)
        name = function.get("name")
        wrapped = _first(around) if around is not None else ""
        if around is None or name is None or not wrapped or decorators(function):
            continue
        given = any(n.kind == "return_statement" and n.text == f"return {name.text}" for n in around.walk())
        if not given or f"{wrapped}(" not in function.text:
            continue
        asked = place.hints.message & {"__name__", "__doc__", "__wrapped__", "__module__", "__qualname__"}
        weight = 1.0 if asked else 0.3
        text = f"@wraps({wrapped})" if "wraps" in place.names else f"@functools.wraps({wrapped})"
        made = _above(function, text, weight)
        if "wraps" in place.names or "functools" in place.names:
            yield made
        else:
            edits = (added("import functools", place.syntax), *made.edits)
            yield Proposal(made.operator, weight, edits, made.note)


def _above(function: Node, text: str, weight: float) -> Proposal:
    syntax = function.syntax
    at = syntax.line_start(function.row)
    line = f"{syntax.indent(function)}{text}\n"
    name = function.get("name")
    note = f"{text} on {name.text if name is not None else shorten(function.text)}"
    return Proposal("function.decorate", min(1.0, weight), ((at, at, line),), note)


TABLE: Table = {"statement": (decorate, wraps)}
