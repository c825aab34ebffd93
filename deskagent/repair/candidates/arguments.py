"""Arguments of a call: exchanged, dropped, added, unpacked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import (
    ATOM,
    BUILTINS,
    MAX_SCOPE,
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    exchange,
    handed,
    put,
    replace,
    similarity,
)
from deskagent.repair.candidates.keywords import KEYWORDS
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import Syntax

_TAKES_MORE = frozenset(
    {"round", "int", "split", "quantize", "get", "pop", "getattr", "range", "sub", "compile", "max", "min"}
)


def order(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(a, b)` → `f(b, a)`; for three arguments each pair, neighbours first."""
    given = [part for part in arguments(node) if part.kind != "keyword_argument"]
    reach = len(given) if len(given) <= 4 else 2
    for i in range(len(given)):
        for j in range(i + 1, min(len(given), i + reach)):
            if given[i].text != given[j].text:
                weight = 1.0 if j == i + 1 else 0.5
                if "none" in {given[i].kind, given[j].kind} or "string" in {given[i].kind, given[j].kind}:
                    weight *= 0.6
                yield exchange("call.order", given[i], given[j], weight)


def fewer(node: Node, place: Place) -> Iterator[Proposal]:
    """One argument less."""
    given = arguments(node)
    for index, part in enumerate(given):
        weight = 0.6 if part.kind == "keyword_argument" else 0.5 if index == len(given) - 1 else 0.3
        if len(given) == 1:
            yield replace("call.fewer", part, part, "", weight * 0.3)
        elif index == 0:
            yield _cut("call.fewer", part.start, given[1].start, part, weight)
        else:
            yield _cut("call.fewer", given[index - 1].end, part.end, part, weight)


def _cut(operator: str, start: int, end: int, part: Node, weight: float) -> Proposal:
    return Proposal(operator, weight, ((start, end, ""),), f"drop argument {part.text[:40]}")


def more(node: Node, place: Place) -> Iterator[Proposal]:
    """One argument more: a parameter the called function of this file has, what a like call passes, a variable."""
    bracket = node.get("arguments")
    if bracket is None or bracket.kind != "argument_list":
        return
    given = arguments(node)
    name = called_name(node)
    keywords = {part.parts[0].text for part in given if part.kind == "keyword_argument"}
    plain = [part for part in given if part.kind != "keyword_argument"]
    offered: dict[str, float] = {}
    for parameters in _parameters(place.syntax, name):
        for index, (parameter, _) in enumerate(parameters):
            if index < len(plain) or parameter in keywords:
                continue
            if parameter in place.names:
                offered[f"{parameter}={parameter}"] = 1.0
            for word in ("True", "False", "None"):
                offered.setdefault(f"{parameter}={word}", 0.3)
            if not keywords and index == len(plain):
                for variable in place.own_variables:
                    offered.setdefault(variable.text, 0.4 + 0.5 * similarity(variable.text, parameter))
    for other in _calls(place.syntax).get(name, ()):
        if other is not node:
            for part in arguments(other):
                if (
                    part.kind == "keyword_argument"
                    and part.parts[0].text not in keywords
                    and part.end - part.start < 50
                ):
                    offered.setdefault(part.text, 0.8)
    for text, weight in KEYWORDS.get(name, ()):
        if text.partition("=")[0] not in keywords or "=" not in text:
            offered.setdefault(text, weight)
    for text in _idle(place) if name not in BUILTINS else ():
        offered[text] = 0.9
    for text in sorted(place.hints.missing):
        if text in place.names and text not in keywords:
            offered.setdefault(f"{text}={text}", 1.0)
            offered.setdefault(text, 0.9)
    if name in {"max", "min", "sorted", "sort"}:
        for variable in place.own_variables:
            if "dict" in variable.kinds:
                offered.setdefault(f"key={variable.text}.get", 0.5)
    if name in _TAKES_MORE:
        for variable in place.names.values():
            if variable.origin == "module" and variable.text.isupper():
                offered.setdefault(variable.text, 0.5)
    if not offered and len(plain) < 4:
        for variable in place.own_variables:
            if not any(part.text == variable.text for part in plain):
                offered[variable.text] = 0.25
    for text, weight in offered.items():
        yield Proposal("call.more", weight, (handed(node, text),), f"pass {text} to {name}")
        if given and "=" not in text and weight > 0.3:
            yield Proposal(
                "call.more",
                weight * 0.5,
                ((given[0].start, given[0].start, f"{text}, "),),
                f"pass {text} to {name} first",
            )


@lru_cache(maxsize=32)
def _calls(syntax: Syntax) -> dict[str, list[Node]]:
    """Name that is called → the file's calls of it."""
    found: dict[str, list[Node]] = {}
    for call in syntax.calls[:MAX_SCOPE]:
        found.setdefault(called_name(call), []).append(call)
    return found


def _idle(place: Place) -> Iterator[str]:
    """Parameters that are handed on nowhere, as arguments."""
    signature = place.function.get("parameters") if place.function is not None else None
    for part in signature.parts if signature is not None else ():
        name = next((n for n in part.walk() if n.kind == "identifier"), None)
        known = place.names.get(name.text) if name is not None else None
        if name is None or known is None or known.reads or name.text in {"self", "cls"}:
            continue
        stars = {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}.get(part.kind, "")
        yield f"{stars}{name.text}"
        if not stars:
            yield f"{name.text}={name.text}"
    for own in place.own_variables:  # worked out and never used
        if own.origin == "local" and not own.reads and not own.fills and own.line < place.statement.line:
            yield own.text
            yield f"{own.text}={own.text}"


def _parameters(syntax: Syntax, name: str) -> Iterator[list[tuple[str, bool]]]:
    """(name, has a default) of the parameters of the file's functions called `name`, self left out."""
    for node in syntax.statements:
        own = node.get("name") if node.kind == "function_definition" else None
        if own is None or own.text != name:
            continue
        found = []
        parameters = node.get("parameters")
        for part in parameters.parts if parameters is not None else ():
            names = (
                [part]
                if part.kind == "identifier"
                else [n for n in part.walk() if n.kind == "identifier"][:1]
            )
            if names and part.kind in {
                "identifier",
                "default_parameter",
                "typed_parameter",
                "typed_default_parameter",
            }:
                found.append((names[0].text, "default" in part.kind))
        yield found[1:] if found and found[0][0] in {"self", "cls"} else found


def starred(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(xs)` → `f(*xs)`, and back."""
    given = arguments(node)
    for part in given:
        if part.kind == "list_splat" and part.parts:
            yield put("call.star", part, part.parts[0].text, 0.6, ATOM)
        elif part.kind == "identifier" and len(given) <= 2:
            name = place.names.get(part.text)
            if name is not None and (name.kinds & {"list", "tuple", "iter"} or name.text in {"args"}):
                yield put("call.star", part, f"*{part.text}", 0.5)
        elif part.kind == "identifier" and part.text == "kwargs":
            yield put("call.star", part, "**kwargs", 1.0)


def beside(node: Node, place: Place) -> Iterator[Proposal]:
    """`max(f(x) for x in xs)` → `max((f(x) for x in xs), default=0)`."""
    lone, name = node.get("arguments"), called_name(node)
    if lone is not None and lone.kind == "generator_expression":
        for text, weight in KEYWORDS.get(name, ()):
            yield Proposal(
                "call.more",
                weight,
                ((lone.start, lone.end, f"({lone.text}, {text})"),),
                f"pass {text} to {name}",
            )


TABLE: Table = {"call": (order, fewer, more, starred, beside)}
