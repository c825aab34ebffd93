"""Texts that come out a little different, by what is different in them: one more `replace`, a doubled sign stripped,
letter case on both sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, called_name, is_value, put, wrapped
from deskagent.repair.candidates.blocks import alone
from deskagent.repair.candidates.shown import difference, written
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block

_TEXTS, _LONGEST = 4, 12
_SIGNS = frozenset("/\\.,;:- _\n\t'\"")


def differences(place: Place) -> list[tuple[str, str, str]]:
    """(what came, what should stand there, the sign before it) where an expected and an actual text differ."""
    known = place.memo.get("differences")
    if isinstance(known, list):
        return known
    found = []
    for expected, actual in place.hints.examples.texts[:_TEXTS]:
        first, old, new = difference(expected, actual)
        if len(old) <= _LONGEST and len(new) <= _LONGEST and old != new:
            found.append((old, new, actual[max(0, first - 1) : first]))
    place.memo["differences"] = found
    return found


def replaced(node: Node, place: Place) -> Iterator[Proposal]:
    """`x.replace("<", "&lt;")` → with `.replace(old, new)` after it, or before the first of its like."""
    function = node.get("function")
    owner = function.get("object") if function is not None else None
    if called_name(node) != "replace" or owner is None:
        return
    outer = (
        node.parent is not None and node.parent.kind == "attribute" and node.parent.text.endswith(".replace")
    )
    inner = owner.kind == "call" and called_name(owner) == "replace"
    for old, new, before in differences(place):
        for one, other in ((old, new), (before + old, before + new)):
            if not one:
                continue
            text = f".replace({written(node, one)}, {written(node, other)})"
            if not outer:
                yield Proposal(
                    "call.replaced", 1.0 if one == old else 0.8, ((node.end, node.end, text),), text[1:]
                )
            if not inner:
                yield Proposal("call.replaced", 0.9, ((owner.end, owner.end, text),), f"first {text[1:]}")
            if one == before + old and old:
                break


def doubled(node: Node, place: Place) -> Iterator[Proposal]:
    """`a + "/" + b` → `a.rstrip("/") + "/" + b`, where a sign came twice."""
    signs = [old for old, new, before in differences(place) if not new and old in _SIGNS and before == old]
    parent = node.parent
    if not signs or parent is None or not is_value(node):
        return
    if parent.kind not in {
        "binary_operator",
        "interpolation",
        "argument_list",
        "assignment",
        "return_statement",
    }:
        return
    for sign in dict.fromkeys(signs):
        quoted = repr(sign).replace("'", '"') if sign not in "'\"" else repr(sign)
        for method, weight in (("rstrip", 1.0), ("lstrip", 0.9), ("strip", 0.7)):
            yield put("call.strip", node, f"{wrapped(node, 14)}.{method}({quoted})", weight)


def cased(node: Node, place: Place) -> Iterator[Proposal]:
    """`a == b` → `a.lower() == b.lower()`, where the tests show texts that differ in case alone."""
    if len(node.parts) != 2 or not any(c.kind in {"==", "!=", "in", "not in"} for c in node.children):
        return
    texts = {v for v in (*place.hints.examples.given, *place.hints.examples.expected) if isinstance(v, str)}
    if len({text.lower() for text in texts}) == len(texts):
        return
    left, right = node.parts
    plain = {"identifier", "attribute", "call", "subscript"}
    if left.kind not in plain or right.kind not in plain or ".lower()" in node.text:
        return
    for method, weight in (("lower", 1.0), ("casefold", 0.5)):
        edits = ((left.end, left.end, f".{method}()"), (right.end, right.end, f".{method}()"))
        yield Proposal("absent.case", weight, edits, f"{node.text[:40]}: .{method}() on both sides")


def narrowed(node: Node, place: Place) -> Iterator[Proposal]:
    """`else:` → `elif x is not None:`, `elif x is not False:`, for what the conditions before it ask about."""
    chain = node.parent
    body = block(node)
    if chain is None or chain.kind != "if_statement" or body is None or body.row == node.row:
        return
    condition = chain.get("condition")
    parts = condition.walk() if condition is not None else ()
    names = dict.fromkeys(p.text for p in parts if p.kind == "identifier" and p.text in place.names)
    used = {p.text for p in body.walk() if p.kind == "identifier"}
    for name in names:
        if place.names[name].origin in {"definition", "import", "builtin"}:
            continue
        for index, test in enumerate((f"{name} is not None", f"{name} is not False", name)):
            weight = (1.0 if name in used else 0.5) * 0.85**index
            edit = (node.start, node.start + 4, f"elif {test}")
            yield Proposal("condition.elif", weight, (edit,), f"else → elif {test}")


def listed(node: Node, place: Place) -> Iterator[Proposal]:
    """Before something that goes through a parameter: `if isinstance(x, str): x = [x]`."""
    if place.function is None or not alone(node) or node.kind.endswith("_clause"):
        return
    if not any(isinstance(v, str) and len(v) > 1 for v in place.hints.examples.given):
        return
    for part in place.nodes:
        right = part.get("right") if part.kind in {"for_in_clause", "for_statement"} else None
        known = place.names.get(right.text) if right is not None and right.kind == "identifier" else None
        if known is None or known.origin != "parameter":
            continue
        at = place.syntax.line_start(node.row)
        indent, unit = place.syntax.indent(node), place.syntax.unit
        for form, weight in (("[{0}]", 1.0), ("({0},)", 0.6), ("{0}.split()", 0.4), ('{0}.split(",")', 0.3)):
            lines = f"{indent}if isinstance({known.text}, str):\n{indent}{unit}{known.text} = "
            edit = (at, at, lines + form.format(known.text) + "\n")
            yield Proposal(
                "guard.listed", weight, (edit,), f"{known.text}: {form.format(known.text)} of a text"
            )


TABLE: Table = {
    "call": (replaced, doubled), "identifier": (doubled,), "attribute": (doubled,), "subscript": (doubled,),
    "comparison_operator": (cased,), "else_clause": (narrowed,), "statement": (listed,),
}  # fmt: skip
