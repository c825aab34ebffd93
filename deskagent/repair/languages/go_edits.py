"""Edits that Go alone has: errors, shadowed names, ranges, pointers, deferred calls, shared slices, formats."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, exchange, shorten
from deskagent.repair.languages import calls, statements
from deskagent.repair.languages.fit import operator_of, put
from deskagent.repair.languages.place import Place, visible
from deskagent.repair.nodes import Node


def errors(node: Node, place: Place) -> Iterator[Proposal]:
    """After `x, err := f()` the check that is missing; `_` that was `err`."""
    left = node.get("left")
    if left is None or not statements.alone(node, place):
        return
    held = [part.text for part in left.parts]
    tree = place.tree
    indent, unit = tree.indent(node), tree.unit
    if node.kind == "short_var_declaration" and len(held) > 1 and held[-1] == "_":
        blank = left.parts[-1]
        after = statements.line_of(node, place)[1]
        for name, test in (("err", "err != nil"), ("ok", "!ok")):
            for ending in _endings(place, name):
                text = f"{indent}if {test} {{\n{indent}{unit}{ending}\n{indent}}}\n"
                edits = ((blank.start, blank.end, name), (after, after, text))
                yield Proposal("error.kept", 1.0, edits, f"{name} checked: {shorten(ending)}")
    after = statements.line_of(node, place)[1]
    for name, test in (("err", "err != nil"), ("ok", "!ok")):
        if name not in held:
            continue
        for ending in _endings(place, name):
            text = f"{indent}if {test} {{\n{indent}{unit}{ending}\n{indent}}}\n"
            yield Proposal("error.check", 1.0, ((after, after, text),), f"if {test} {{ {shorten(ending)} }}")


def _endings(place: Place, name: str) -> list[str]:
    """How the function ends where something is amiss: as it does elsewhere, else by zero values and the error."""
    found: dict[str, None] = {}
    for other in place.scope_nodes:
        if (
            other.kind == "return_statement"
            and ("err" in other.text or "nil" in other.text or "false" in other.text)
            and "\n" not in other.text
        ):
            found[other.text] = None
    function = place.function
    result = function.get("result") if function is not None else None
    if result is not None:
        kinds = [p.get("type") for p in result.parts] if result.kind == "parameter_list" else [result]
        values = [_zero(kind.text if kind is not None else "", name) for kind in kinds]
        found[f"return {', '.join(values)}"] = None
    if place.in_loop is not None:
        found["continue"] = None
    return list(found)[:5]


def _zero(kind: str, name: str) -> str:
    if kind == "error":
        return "err" if name == "err" else "nil"
    if kind in {"int", "int64", "uint", "float64", "uint64", "int32", "rune", "byte"}:
        return "0"
    if kind == "bool":
        return "false"
    if kind == "string":
        return '""'
    return "nil" if kind.startswith(("*", "[", "map", "func", "chan", "interface")) else f"{kind}{{}}"


def shadow(node: Node, place: Place) -> Iterator[Proposal]:
    """`:=` ↔ `=`: a new name where the outer one was meant."""
    left = node.get("left")
    token = next((c for c in node.children if c.text in {":=", "="} and not c.named), None)
    if left is None or token is None:
        return
    if token.text == ":=":
        weight = 1.0 if any(p.text in _outer_names(place, node) for p in left.parts) else 0.1
        yield put("declare.shadow", token, "=", weight, place)
    else:
        yield put("declare.shadow", token, ":=", 0.15, place)


def _outer_names(place: Place, node: Node) -> set[str]:
    """Names declared around the block that `node` stands in."""
    above = next((n for n in node.ancestors() if place.tree.is_statement(n)), None)
    return set(visible(place.tree, above)) if above is not None else set()


def pair(node: Node, place: Place) -> Iterator[Proposal]:
    """`for i := range xs` ↔ `for _, x := range xs`; index and value exchanged; a range cut short."""
    left, right = node.get("left"), node.get("right")
    if right is not None and right.kind in {"identifier", "selector_expression"}:
        for text, weight in ((f"{right.text}[1:]", 0.5), (f"{right.text}[:len({right.text})-1]", 0.4)):
            yield put("call.range", right, text, weight, place)
    if left is None:
        return
    if len(left.parts) == 1:
        yield put("loop.pair", left, f"_, {left.text}", 1.0, place)
    elif left.parts[0].text == "_":
        yield put("loop.pair", left, left.parts[1].text, 0.7, place)
    else:
        yield exchange("loop.pair", left.parts[0], left.parts[1], 1.0)
    if len(left.parts) == 2 and right is not None and left.parts[0].text == "_":
        # what is changed in a loop is a copy: the element itself is meant
        body = node.parent.get("body") if node.parent is not None else None
        value = left.parts[1].text
        uses = (
            [n for n in body.walk() if n.kind == "identifier" and n.text == value] if body is not None else []
        )
        if uses:
            edits = [(left.start, left.end, "i"), *((n.start, n.end, f"{right.text}[i]") for n in uses)]
            yield Proposal("loop.pair", 0.5, tuple(edits), f"{value} → {right.text}[i]")


def receiver(node: Node, place: Place) -> Iterator[Proposal]:
    """A method of a value that should change it gets a pointer."""
    holder = node.get("receiver")
    kind = holder.parts[0].get("type") if holder is not None and holder.parts else None
    if kind is None:
        return
    if kind.kind == "pointer_type":
        yield put("pointer.receiver", kind, kind.text.lstrip("*"), 0.1, place)
    else:
        yield put("pointer.receiver", kind, f"*{kind.text}", 1.0, place)


def pointers(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` ↔ `&x`, `*x`."""
    token, held = operator_of(node), node.get("operand")
    if token is not None and held is not None and token.text in {"&", "*"}:
        yield put("pointer.value", node, held.text, 0.8, place)


def deferred(node: Node, place: Place) -> Iterator[Proposal]:
    """`f()` → `defer f()`, and back; a lock's release put beside it."""
    if node.kind == "defer_statement":
        if node.parts:
            yield put("defer.put", node, node.parts[0].text, 0.8, place)
        return
    call = node.parts[0] if node.parts else None
    if call is None or call.kind != "call_expression":
        return
    yield Proposal("defer.put", 0.5, ((node.start, node.start, "defer "),), f"defer {shorten(node.text)}")
    for opens, closes in (("Lock()", "Unlock()"), ("RLock()", "RUnlock()")):
        if call.text.endswith(f".{opens}") and statements.alone(node, place):
            at = statements.line_of(node, place)[1]
            text = f"{place.tree.indent(node)}defer {call.text.removesuffix(opens)}{closes}\n"
            yield Proposal("defer.put", 1.0, ((at, at, text),), f"insert {text.strip()}")


def appended(node: Node, place: Place) -> Iterator[Proposal]:
    """`xs = append(xs, x)`: a copy of x, all of x; the result kept."""
    called, given = node.get("function"), calls.arguments(node)
    if called is None or called.text != "append" or not given:
        return
    if len(given) == 2:
        last = given[1]
        spread = next((c for c in node.children if c.text == "..."), None)
        if spread is None and last.kind == "identifier":
            yield put("slice.copy", last, f"append([]int(nil), {last.text}...)", 0.7, place)
            yield put("slice.copy", last, f"append([]string(nil), {last.text}...)", 0.4, place)
            yield put("call.star", last, f"{last.text}...", 0.6, place)
    if given[0].kind == "identifier" and len(given) == 2 and given[1].kind != "slice_expression":
        yield exchange("call.order", given[0], given[1], 0.3)


def copied(node: Node, place: Place) -> Iterator[Proposal]:
    """What a function gives back or keeps: a copy of the slice."""
    values = [p for part in node.parts for p in (part.parts if part.kind == "expression_list" else [part])]
    for value in values[-2:]:
        if value.kind in {"identifier", "selector_expression"}:
            for kind in _slices(place, value):
                yield put("slice.copy", value, f"append({kind}(nil), {value.text}...)", 0.7, place)
    if node.kind == "return_statement" and len(values) == 2:
        yield exchange("return.order", values[0], values[1], 0.5)


def _slices(place: Place, value: Node) -> list[str]:
    known = place.kinds(value)
    found = [kind for kind in known if kind.startswith("[]")]
    field = value.get("field")
    if field is not None:
        for node in place.tree.of("field_declaration"):
            if (
                node.kind == "field_declaration"
                and (name := node.get("name")) is not None
                and name.text == field.text
            ):
                kind = node.get("type")
                if kind is not None and kind.text.startswith("[]"):
                    found.append(kind.text)
    return found


def conversion(node: Node, place: Place) -> Iterator[Proposal]:
    """`float64(a / b)` → `float64(a) / float64(b)`."""
    called, given = node.get("function"), calls.arguments(node)
    if called is None or called.text not in {"float64", "float32", "int64", "int"} or len(given) != 1:
        return
    inner = given[0]
    left, right, token = inner.get("left"), inner.get("right"), operator_of(inner)
    if inner.kind == "binary_expression" and left is not None and right is not None and token is not None:
        text = f"{called.text}({left.text}) {token.text} {called.text}({right.text})"
        yield put("type.conversion", node, text, 1.0, place, place.grammar.precedence.get(token.text, 0))


def made(node: Node, place: Place) -> Iterator[Proposal]:
    """`make([]T, n)` → `make([]T, 0, n)`, and back."""
    called, given = node.get("function"), calls.arguments(node)
    if called is None or called.text != "make":
        return
    if len(given) == 2:
        yield put("call.more", given[1], f"0, {given[1].text}", 0.8, place)
    elif len(given) == 3:
        yield Proposal(
            "call.fewer", 0.8, ((given[1].start, given[2].start, ""),), f"make with {given[2].text} elements"
        )


def shown(node: Node, place: Place) -> Iterator[Proposal]:
    """Verbs of a format string."""
    body = next((c for c in node.children if c.kind in place.grammar.string_text), None)
    if body is None or "%" not in body.text:
        return
    text = body.text
    for old, new, weight in (
        ("%d", "%02d", 1.0),
        ("%s", "%q", 0.6),
        ("%v", "%+v", 0.4),
        ("%f", "%.2f", 0.8),
        ("%.2f", "%.1f", 0.5),
        ("%.1f", "%.2f", 0.7),
        ("%02d", "%d", 0.5),
        ("%d", "%x", 0.3),
        ("%x", "%02x", 0.8),
        ("%v", "%s", 0.3),
        ("%d", "%03d", 0.3),
        ("%w", "%v", 0.2),
        ("%v", "%w", 0.8),
        ("%s", "%w", 0.6),
        ("%q", "%s", 0.6),
        ("%X", "%x", 0.5),
        ("%x", "%X", 0.5),
        ("%02d", "%03d", 0.3),
    ):
        at = text.find(old)
        while at >= 0:
            start = body.start + len(text[:at].encode())
            yield Proposal("string.format", weight, ((start, start + len(old), new),), f"{old} → {new}")
            at = text.find(old, at + 1)
