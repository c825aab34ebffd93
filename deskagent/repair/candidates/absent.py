"""What is none, empty, of another case, or a truth value: `if x:` where 0 and "" count too, the first of nothing, an
upper-case spelling, True where a number is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import (
    ATOM,
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    called_name,
    is_value,
    put,
    wrapped,
)
from deskagent.repair.nodes import Node

_READ = frozenset({"identifier", "attribute", "subscript"})
_TESTS = frozenset(
    [
        "if_statement",
        "elif_clause",
        "while_statement",
        "assert_statement",
        "if_clause",
        "conditional_expression",
    ]
)
_BETWEEN = frozenset({"boolean_operator", "parenthesized_expression"})
_NOT, _OR, _AND, _IS = (PRECEDENCE[word] for word in ("not_operator", "or", "and", "comparison_operator"))
_BITS = PRECEDENCE["|"]
_OTHERWISE = (("None", 0.7), ('""', 0.6), ("0", 0.6), ("[]", 0.4), ("{}", 0.2), ("False", 0.2))
_ENDS = {"0": "startswith", "-1": "endswith", ":1": "startswith", "-1:": "endswith"}
_NOTHING_THERE = re.compile(r"\b(?:IndexError|StopIteration|KeyError)\b|out of range|\bempty\b")
_LETTER_CASE = re.compile(r"\bcase|upper|lower|capital", re.IGNORECASE)


def _may_be_none(node: Node, place: Place) -> float:
    """How much speaks for None being one of the values of an expression: a default, an annotation, another test."""
    text = node.text
    signature = place.function.get("parameters") if place.function is not None else None
    for part in signature.parts if signature is not None else ():
        value, kind = part.get("value"), part.get("type")
        name = part.parts[0] if part.parts else part
        if text == name.text and (
            (value is not None and value.kind == "none")
            or (kind is not None and ("None" in kind.text or "Optional" in kind.text))
        ):
            return 1.0
    words = place.hints.request | place.hints.message
    if any(f"{text} is {word}" in place.syntax.source.text for word in ("None", "not None")):
        return 0.9
    return 0.6 if text.rpartition(".")[2] in words else 0.35


def given(node: Node, place: Place) -> Iterator[Proposal]:
    """`if x:` → `if x is not None:`; also in one part of a condition."""
    if node.kind not in _READ or not is_value(node):
        return
    top, parent = node, node.parent
    while parent is not None and parent.kind in _BETWEEN:
        top, parent = parent, parent.parent
    if parent is None or parent.kind not in _TESTS:
        return
    if parent.kind == "conditional_expression":
        tested = len(parent.parts) == 3 and parent.parts[1] is top
    elif parent.kind in {"assert_statement", "if_clause"}:
        tested = parent.parts[0] is top
    else:
        tested = top.field == "condition"
    if tested:
        yield put("absent.given", node, f"{node.text} is not None", _may_be_none(node, place), _IS)


def either(node: Node, place: Place) -> Iterator[Proposal]:
    """`a or b` → `a if a is not None else b`, where its value is used; the other way round."""
    left, right, token = node.get("left"), node.get("right"), node.get("operator")
    if left is None or right is None or token is None or token.text != "or" or left.kind not in _READ:
        return
    parent = node.parent
    if parent is None or parent.kind in _TESTS | _BETWEEN | {"not_operator"}:
        return
    text = f"{left.text} if {left.text} is not None else {wrapped(right, _OR)}"
    yield put("absent.given", node, text, _may_be_none(left, place), 0)


def choice(node: Node, place: Place) -> Iterator[Proposal]:
    """`a if a is not None else b` → `a or b`."""
    if len(node.parts) != 3:
        return
    value, test, other = node.parts
    if test.text == f"{value.text} is not None":
        yield put("absent.given", node, f"{wrapped(value, _OR)} or {wrapped(other, _AND)}", 0.4, _OR)


def first_of_nothing(node: Node, place: Place) -> Iterator[Proposal]:
    """`xs[0]`, `len(xs[0])` → `… if xs else d`, d being no value, or the same of something else at hand."""
    owner = _taken_from(node)
    if owner is None or not is_value(node):
        return
    said = 1.0 if any(map(_NOTHING_THERE.search, [*place.hints.message, place.hints.said])) else 0.2
    others = [name.text for name in place.own_variables if name.text != owner.text]
    outer = [node]
    parent = node.parent
    if parent is not None and parent.kind == "argument_list" and len(parent.parts) == 1 and parent.parent:
        outer.append(parent.parent)
    for whole in outer:
        if whole.parent is not None and whole.parent.kind == "expression_statement":
            continue
        called = called_name(whole) if whole is not node else ""
        choices = [("0", 0.7)] if called == "len" else [*_OTHERWISE]
        if called:
            asked = {part.text for part in place.expressions("call")}
            choices += [
                (text, 0.9 if text in asked else 0.6 - 0.04 * rank)
                for rank, text in enumerate(f"{called}({name})" for name in others[:12])
            ]
        else:
            choices += [(name, 0.3) for name in others[:8]]
        for text, weight in choices:
            new = f"{whole.text} if {owner.text} else {text}"
            yield put("absent.nothing", whole, new, said * weight, 0)


def _taken_from(node: Node) -> Node | None:
    """What one element is taken from: `xs` of `xs[0]`, `xs[-1]`."""
    value = node.get("value")
    parts = node.all("subscript")
    if value is not None and value.kind in _READ and len(parts) == 1 and parts[0].text in {"0", "-1"}:
        return value
    return None


def end_of_text(node: Node, place: Place) -> Iterator[Proposal]:
    """`s[0] == "."` → `s.startswith(".")`, which bears an empty text."""
    tokens, parts = node.all("operators"), node.parts
    if len(parts) != 2 or len(tokens) != 1 or tokens[0].text not in {"==", "!=", "in", "not in"}:
        return
    for one, other in ((parts[0], parts[1]), (parts[1], parts[0])):
        value, index = one.get("value"), one.all("subscript")
        name = _ENDS.get(index[0].text.replace(" ", "")) if value is not None and len(index) == 1 else None
        if value is None or name is None:
            continue
        wide = tokens[0].text.endswith("in")
        if (wide and other.kind != "tuple") or (not wide and other.kind != "string"):
            continue
        text = f"{value.text}.{name}({other.text})"
        negative = tokens[0].text in {"!=", "not in"}
        said = 1.0 if any(map(_NOTHING_THERE.search, place.hints.message)) else 0.4
        yield put(
            "absent.nothing", node, f"not {text}" if negative else text, said, _NOT if negative else ATOM
        )


def letter_case(node: Node, place: Place) -> Iterator[Proposal]:
    """`s == "UTF-8"` → `s.lower() == "utf-8"`; `s.startswith("File")` → `s.lower().startswith("file")`."""
    said = 1.0 if _LETTER_CASE.search(place.hints.said) else 0.25
    if node.kind == "comparison_operator":
        tokens, parts = node.all("operators"), node.parts
        if len(parts) != 2 or len(tokens) != 1 or tokens[0].text not in {"==", "!=", "in", "not in"}:
            return
        pairs = (
            [(parts[0], parts[1])] if tokens[0].text.endswith("in") else [(parts[0], parts[1]), parts[::-1]]
        )
    else:
        function, given = node.get("function"), node.get("arguments")
        owner = function.get("object") if function is not None and function.kind == "attribute" else None
        if owner is None or given is None or len(given.parts) != 1:
            return
        if called_name(node) not in {"startswith", "endswith", "removeprefix", "removesuffix"}:
            return
        pairs = [(owner, given.parts[0])]
    for text, known in pairs:
        plain = (
            known.kind in {"string", "tuple", "list", "set"}
            and "{" not in known.text[: known.kind == "string"]
        )
        if not plain or not re.search("[A-Za-z]", known.text) or text.kind == "string" or "\\" in known.text:
            continue
        strings = [known] if known.kind == "string" else known.parts
        if any(part.kind != "string" or part.text[:1] not in "'\"" for part in strings):
            continue
        for method, weight in (("lower", 1.0), ("casefold", 0.4), ("upper", 0.4)):
            new = known.text.upper() if method == "upper" else known.text.lower()
            edits = (
                (text.start, text.end, f"{wrapped(text, ATOM)}.{method}()"),
                (known.start, known.end, new),
            )
            note = f"{text.text} → {text.text}.{method}(), compared with {new}"
            if new == known.text:
                edits = edits[:1]
            yield Proposal("absent.case", said * weight, tuple(sorted(edits)), note[:120])


def no_truth_value(node: Node, place: Place) -> Iterator[Proposal]:
    """`isinstance(x, int)` → `isinstance(x, int) and not isinstance(x, bool)`: True is an int too."""
    given = node.get("arguments")
    if called_name(node) != "isinstance" or given is None or len(given.parts) != 2:
        return
    value, kinds = given.parts
    if "bool" in kinds.text or (
        kinds.kind in _READ and kinds.text in {"str", "dict", "list", "bytes", "tuple", "set"}
    ):
        return
    words = place.hints.message | place.hints.request
    said = 1.0 if words & {"bool", "bools", "boolean", "booleans", "True", "False"} else 0.3
    if "int" not in kinds.text and "Number" not in kinds.text and "Real" not in kinds.text:
        said *= 0.5
    truth = f"isinstance({value.text}, bool)"
    parent = node.parent
    if parent is not None and parent.kind == "not_operator":
        yield put("absent.truth", parent, f"{parent.text} or {truth}", said, _OR)
    else:
        yield put("absent.truth", node, f"{node.text} and not {truth}", said, _AND)


TABLE: Table = {
    "identifier": (given,),
    "attribute": (given,),
    "subscript": (given, first_of_nothing),
    "boolean_operator": (either,),
    "conditional_expression": (choice,),
    "comparison_operator": (end_of_text, letter_case),
    "call": (letter_case, no_truth_value),
}
