"""Literal values: numbers, truth values, None, empty and small collections, strings."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put, similarity
from deskagent.repair.candidates.shown import value_of
from deskagent.repair.nodes import Node

# literal kind → (its text or "*", replacement, how likely beside the others)
WORDS: dict[str, tuple[tuple[str, float], ...]] = {
    "true": (("False", 1.0), ("None", 0.2)),
    "false": (("True", 1.0), ("None", 0.2)),
    "none": (("False", 0.3), ("True", 0.2), ("0", 0.4), ("''", 0.3), ("[]", 0.5), ("{}", 0.3), ("()", 0.1)),
}
EMPTY: dict[str, tuple[tuple[str, float], ...]] = {
    "list": (
        ("[[]]", 1.0),
        ("[()]", 0.4),
        ("{}", 0.4),
        ("set()", 0.4),
        ("()", 0.3),
        ("None", 0.4),
        ("[0]", 0.4),
        ("''", 0.2),
    ),
    "dictionary": (("[]", 0.5), ("set()", 0.6), ("None", 0.3)),
    "tuple": (("[]", 0.5), ("None", 0.3), ("((),)", 0.3)),
}


def integers(node: Node, place: Place) -> Iterator[Proposal]:
    """`0` → `1`, `-1`; a neighbour; one that the failing tests name; one used elsewhere in the function."""
    try:
        value = int(node.text.replace("_", ""), 0)
    except ValueError:
        return
    negative = node.parent is not None and node.parent.kind == "unary_operator"
    near = {value + 1: 1.0, value - 1: 1.0, 0: 0.5, 1: 0.5, 2: 0.25, -1: 0.4}
    near[-value] = max(near.get(-value, 0.0), 0.25)
    if value > 9:
        near |= {value * 10: 0.2, value // 10: 0.2, value * 2: 0.15, value // 2: 0.15}
    for other in place.expressions("integer"):
        if other.text.isdigit():
            near.setdefault(int(other.text), 0.3)
    for literal in sorted(place.hints.literals):
        if literal.lstrip("-").isdecimal() and len(literal) < 12:
            near[int(literal)] = near.get(int(literal), 0.0) * 0.5 + 0.15
    for other, weight in near.items():
        if other != value and not (negative and other < 0):
            yield put("constant.integer", node, str(other), weight, 11 if other < 0 else 14)


def floats(node: Node, place: Place) -> Iterator[Proposal]:
    """`1.0` → `0.0`, tenfold, half."""
    try:
        value = float(node.text)
    except ValueError:
        return
    for other, weight in (
        (0.0, 0.5),
        (1.0, 0.5),
        (value * 10, 0.4),
        (value / 10, 0.4),
        (value + 1, 0.3),
        (value / 2, 0.3),
    ):
        if other != value:
            yield put("constant.float", node, repr(other), weight)


def words(node: Node, place: Place) -> Iterator[Proposal]:
    """`True` → `False`; `None` → an empty value."""
    for new, weight in WORDS.get(node.kind, ()):
        yield put("constant.word", node, new, weight)


def collections(node: Node, place: Place) -> Iterator[Proposal]:
    """`[]` → `[[]]`, `[x]`; `[x]` → `[]`, one element more or less."""
    if node.parent is not None and node.parent.kind in {"subscript", "pattern_list"}:
        return
    parts = node.parts
    if not parts:
        for new, weight in EMPTY.get(node.kind, ()):
            yield put("constant.collection", node, new, weight)
        if node.kind == "list":
            for name in place.own_variables:
                yield put(
                    "constant.element", node, f"[{name.text}]", 0.8 if name.origin == "parameter" else 0.6
                )
        return
    if node.kind == "list":
        yield put("constant.collection", node, "[]", 0.4)
        if len(parts) == 1:
            yield put("constant.collection", node, parts[0].text, 0.4, 0)
    if len(parts) > 1:
        for index, part in enumerate(parts):
            rest = [other.text for other in parts[:index] + parts[index + 1 :]]
            opening, closing = node.text[0], node.text[-1]
            if opening in "([{":
                tail = "," if len(rest) == 1 and opening == "(" else ""
                yield put("constant.fewer", node, f"{opening}{', '.join(rest)}{tail}{closing}", 0.5)
            if part.kind == "dictionary_splat":
                return


def strings(node: Node, place: Place) -> Iterator[Proposal]:
    """A string → another of the function or of the failing tests; empty ↔ space; a letter more or less."""
    value = value_of(node.text)
    if not isinstance(value, (str, bytes)) or len(value) > 200:
        return
    binary = isinstance(value, bytes)
    plain = value.decode("latin-1") if binary else value
    near: dict[str, float] = {"": 0.4, " ": 0.3, "\n": 0.2} if len(plain) < 3 else {"": 0.1}
    if plain:
        near |= {
            plain.strip(): 0.4,
            plain.lower(): 0.4,
            plain.upper(): 0.3,
            plain + " ": 0.2,
            plain + "\n": 0.15,
        }
    for other in place.expressions("string"):
        if other.text != node.text:
            found = value_of(other.text)
            if isinstance(found, str):
                near.setdefault(found, 0.4)
    for literal in sorted(place.hints.literals):
        if not literal.lstrip("-").isdigit() and len(literal) < 60:
            near.setdefault(literal, 0.1 + 0.5 * similarity(literal, plain))
    for other, weight in near.items():
        if other != plain:
            yield put("constant.string", node, ("b" if binary else "") + repr(other), weight)


TABLE: Table = {
    "integer": (integers,),
    "float": (floats,),
    "true": (words,),
    "false": (words,),
    "none": (words,),
    "list": (collections,),
    "dictionary": (collections,),
    "tuple": (collections,),
    "string": (strings,),
}
