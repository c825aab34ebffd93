"""Whole statements: taken out, put in, moved, in or out of a loop; guards, early returns, what is given back."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, exchange, shorten, similarity
from deskagent.repair.languages.fit import is_value, level, put
from deskagent.repair.languages.place import Place
from deskagent.repair.syntax import Node

_KEPT = frozenset(
    {"import_statement", "import_declaration", "package_clause", "export_statement", "type_declaration"}
)
_ENDS = frozenset({"return_statement", "break_statement", "continue_statement", "throw_statement"})


def line_of(node: Node, place: Place) -> tuple[int, int]:
    """The bytes of a statement that has its lines to itself, line end included."""
    tree = place.tree
    end = tree.line_end(node.end_row)
    following = tree.starts[node.end_row + 1] if node.end_row + 1 < len(tree.starts) else end
    return tree.line_start(node.row), following


def alone(node: Node, place: Place) -> bool:
    """Whether nothing else stands on the lines of `node`."""
    tree = place.tree
    rest = tree.source.utf8[node.end : tree.line_end(node.end_row)].decode("utf-8", "replace").strip()
    return tree.starts_line(node) and (rest in {"", ";"} or rest.startswith("//"))


def delete(node: Node, place: Place) -> Iterator[Proposal]:
    """The statement is gone; of a branch, its test is gone or it never happens."""
    if node.kind in _KEPT or node.kind in place.grammar.functions or node.parent is None:
        return
    weight = 0.5 if node.kind in place.grammar.compound else 0.4 if node.kind == "return_statement" else 0.8
    if alone(node, place):
        start, end = line_of(node, place)
        yield Proposal("statement.delete", weight, ((start, end, ""),), f"delete {shorten(node.text)}")
    block = place.tree.block(node)
    if (
        node.kind == "if_statement"
        and block is not None
        and alone(node, place)
        and node.get("alternative") is None
    ):
        inner = place.tree.inner(block)
        if inner and inner[0].row > node.row:
            text = _dedented(place, inner[0], inner[-1])
            start, end = line_of(node, place)
            yield Proposal(
                "statement.unconditional", 0.6, ((start, end, text),), f"always {shorten(inner[0].text)}"
            )


def _dedented(place: Place, first: Node, last: Node) -> str:
    tree = place.tree
    text = tree.source.utf8[tree.line_start(first.row) : line_of(last, place)[1]].decode("utf-8", "replace")
    unit = tree.unit
    return "".join(line.removeprefix(unit) for line in text.splitlines(keepends=True))


def move(node: Node, place: Place) -> Iterator[Proposal]:
    """A neighbour's place; out of the loop or branch, or into the one before."""
    if node.kind in _KEPT or node.kind in place.grammar.functions or not alone(node, place):
        return
    tree = place.tree
    beside = tree.siblings(node)
    index = next((i for i, part in enumerate(beside) if part is node), -1)
    for other in beside[index + 1 : index + 3]:
        if (
            other.kind not in _KEPT
            and other.text != node.text
            and alone(other, place)
            and node.kind not in _ENDS
        ):
            near = other is beside[index + 1]
            if other.kind not in _ENDS:
                yield exchange("statement.swap", node, other, 1.0 if near else 0.5)
    start, end = line_of(node, place)
    text = tree.source.utf8[start:end].decode("utf-8", "replace")
    if node.kind in place.grammar.compound or not text.endswith("\n"):
        return
    holder = next((n for n in node.ancestors() if tree.is_statement(n)), None)
    if holder is not None and holder.kind not in place.grammar.functions and alone(holder, place) and beside:
        out = text.replace(tree.indent(node), tree.indent(holder), 1)
        after = line_of(holder, place)[1]
        before = line_of(holder, place)[0]
        if beside[-1] is node and len(beside) > 1 or node.kind in _ENDS:
            yield Proposal(
                "statement.outdent",
                1.0,
                ((start, end, ""), (after, after, out)),
                f"move {shorten(node.text)} after the block",
            )
        if node.kind not in _ENDS and len(beside) > 1:
            yield Proposal(
                "statement.outdent",
                0.8,
                ((before, before, out), (start, end, "")),
                f"move {shorten(node.text)} before the block",
            )
            if beside[-1] is not node:
                yield Proposal(
                    "statement.outdent",
                    0.5,
                    ((start, end, ""), (after, after, out)),
                    f"move {shorten(node.text)} after the block",
                )
    if index > 0:
        block = tree.block(beside[index - 1])
        inner = tree.inner(block) if block is not None else []
        if (
            inner
            and beside[index - 1].kind not in place.grammar.functions
            and inner[-1].kind not in _ENDS
            and alone(inner[-1], place)
        ):
            at = line_of(inner[-1], place)[1]
            into = text.replace(tree.indent(node), tree.indent(inner[-1]), 1)
            yield Proposal(
                "statement.indent",
                1.0,
                ((at, at, into), (start, end, "")),
                f"move {shorten(node.text)} into the block",
            )


def insert(node: Node, place: Place) -> Iterator[Proposal]:
    """A line that the function lacks: a count moved on, a value kept, a copy of one of its statements."""
    if node.parent is None or place.function is None:
        return
    for text, weight in _lines(place):
        yield from _around(node, place, text, weight)
    for text, weight in _guards(place):
        yield from _around(node, place, text, weight, operator="guard.early", inside=False)


def _around(
    node: Node,
    place: Place,
    text: str,
    weight: float,
    operator: str = "statement.insert",
    inside: bool = True,
) -> Iterator[Proposal]:
    tree = place.tree
    block = tree.block(node)
    inner = tree.inner(block) if block is not None else []
    if inner and tree.starts_line(inner[0]) and inner[0].row > node.row:
        at = tree.line_start(inner[0].row)
        head = node.kind in place.grammar.functions or node.kind in place.grammar.loops
        yield Proposal(
            operator,
            weight * (1.0 if head else 0.5),
            ((at, at, f"{tree.indent(inner[0])}{text}\n"),),
            f"insert {shorten(text)}",
        )
        if (
            inside
            and node.kind in place.grammar.loops
            and inner[-1].kind not in _ENDS
            and alone(inner[-1], place)
        ):
            end = line_of(inner[-1], place)[1]
            yield Proposal(
                operator,
                weight,
                ((end, end, f"{tree.indent(inner[-1])}{text}\n"),),
                f"insert {shorten(text)}",
            )
    if alone(node, place) and node.kind not in place.grammar.functions:
        start, end = line_of(node, place)
        yield Proposal(
            operator, weight, ((start, start, f"{tree.indent(node)}{text}\n"),), f"insert {shorten(text)}"
        )
        if inside and node.kind not in _ENDS:
            yield Proposal(
                operator,
                weight * 0.9,
                ((end, end, f"{tree.indent(node)}{text}\n"),),
                f"insert {shorten(text)}",
            )


def _lines(place: Place) -> Iterator[tuple[str, float]]:
    end = place.grammar.end
    loop = place.in_loop is not None or place.statement.kind in place.grammar.loops
    for name in place.own_variables:
        counts = bool(name.kinds & {"int", "number"})
        idle = name.origin == "local" and name.writes == 0
        if loop and counts:
            yield f"{name.text}++{end}", 1.0 if idle else 0.4
            yield f"{name.text}--{end}", 0.3 if idle else 0.15
        if (
            name.kinds & {"array", "list"}
            or name.kinds & {"map", "set"}
            or any(k.startswith("[]") for k in name.kinds)
        ):
            for other in place.own_variables:
                if other.text != name.text and not other.kinds & {"array", "list", "map"}:
                    if place.grammar.name == "go":
                        yield f"{name.text} = append({name.text}, {other.text})", 0.5 if idle else 0.3
                    else:
                        yield f"{name.text}.push({other.text}){end}", 0.5 if idle else 0.3
                        if name.initial.startswith("new Set"):
                            yield f"{name.text}.add({other.text}){end}", 0.7
        if name.origin == "local" and loop:
            for other in place.own_variables:
                if other.text != name.text and (
                    not name.kinds or not other.kinds or name.kinds & other.kinds
                ):
                    weight = (0.7 if idle else 0.2) * (0.5 + 0.5 * similarity(name.text, other.text))
                    yield f"{name.text} = {other.text}{end}", weight
    if loop:
        yield f"continue{end}", 0.3
        yield f"break{end}", 0.5
    for text in _copies(place):
        yield text, 0.25


def _copies(place: Place) -> list[str]:
    """Short statements of the function, and what other methods of the file do to their own object."""
    found: dict[str, None] = {}
    own = {n.text for n in place.names.values()}
    for other in place.tree.statements:
        if other is place.statement or other.kind not in {
            "expression_statement",
            "assignment_statement",
            "inc_statement",
            "dec_statement",
        }:
            continue
        if other.end - other.start > 60 or "\n" in other.text:
            continue
        used = {n.text for n in other.walk() if n.kind == "identifier"}
        if used <= own | {"console"}:
            found[other.text] = None
    return list(found)[:40]


def _guards(place: Place) -> Iterator[tuple[str, float]]:
    """`if (nothing) return …` at the start of a function or loop, as its other returns give back."""
    end = place.grammar.end
    go = place.grammar.name == "go"
    results = _results(place)
    ends = [*((f"return {r}{end}" if r else f"return{end}", w) for r, w in results)]
    if place.in_loop is not None or place.statement.kind in place.grammar.loops:
        ends.append((f"continue{end}", 0.8))
    for name in place.own_variables:
        if (
            name.origin == "local"
            and name.line >= place.statement.line
            and place.statement.kind not in place.grammar.loops
        ):
            continue
        for test, weight in _tests(name.text, name.kinds, go):
            for ending, share in ends[:8]:
                text = f"if {test} {{\n\t{ending}\n}}" if go else f"if ({test}) {ending}"
                yield _indented(text, place), weight * share


def _indented(text: str, place: Place) -> str:
    """Later lines of `text` indented like the statement."""
    inner = place.tree.indent(place.statement)
    if place.statement.kind in place.grammar.functions | place.grammar.loops:
        inner += place.tree.unit
    return text.replace("\n", f"\n{inner}")


def _tests(name: str, kinds: set[str], go: bool) -> Iterator[tuple[str, float]]:
    kind = next(iter(kinds), "")
    if go:
        if kind.startswith(("[]", "map", "string", "str", "list")):
            yield f"len({name}) == 0", 1.0
        elif kind.startswith("*"):
            yield f"{name} == nil", 1.0
        elif kind in {"int", "int64", "uint", "float64"}:
            yield f"{name} == 0", 0.7
            yield f"{name} < 0", 0.5
            yield f"{name} <= 0", 0.5
            yield f"{name} <= 1", 0.4
        elif name == "err" or kind == "error":
            yield f"{name} != nil", 1.0
        elif kind == "bool" or name == "ok":
            yield f"!{name}", 0.9
            yield name, 0.6
        return
    if kind not in {"number", "str"}:
        yield f"!{name}", 0.8
        yield f"{name}.length === 0", 0.7
        yield f"{name} === undefined", 0.4
        yield f"{name} === null", 0.3
    if kind not in {"array", "object", "str"}:
        yield f"{name} === 0", 0.5
        yield f"{name} < 0", 0.4
        yield f"{name} <= 0", 0.4
        yield f"{name} <= 1", 0.3


def _results(place: Place) -> list[tuple[str, float]]:
    """What a guard may give back: as the function's other returns, as its kind of language has it."""
    found: dict[str, float] = {}
    for node in place.scope_nodes:
        if node.kind == "return_statement" and node.end - node.start < 60:
            text = node.parts[0].text if node.parts else ""
            inner = [n.text for n in node.walk() if n.kind == "identifier"]
            simple = all(place.names.get(t) is None or place.names[t].origin != "local" for t in inner)
            found[text] = 0.9 if simple else 0.5
    usual = {
        "javascript": ("0", "[]", "null", "''", "false", "true", "undefined", "{}", "1"),
        "go": ("nil", "0", "false", "true", '""', "1"),
    }
    for text in usual["go" if place.grammar.name == "go" else "javascript"]:
        found.setdefault(text, 0.35)
    for name in place.own_variables:
        if name.origin == "parameter":
            found.setdefault(name.text, 0.3)
    return sorted(found.items(), key=lambda pair: -pair[1])


def returned(node: Node, place: Place) -> Iterator[Proposal]:
    """Another value given back."""
    values = [p for part in node.parts for p in (part.parts if part.kind == "expression_list" else [part])]
    names = [n for n in place.own_variables]
    for value in values[:3]:
        if value.kind in {"true", "false"}:
            continue
        for name in names:
            if name.text != value.text:
                yield put("return.value", value, name.text, 0.4 if name.origin == "local" else 0.25, place)
        for text, weight in (
            (place.grammar.nothing, 0.3),
            ("true", 0.2),
            ("false", 0.2),
            ("0", 0.15),
            ("1", 0.1),
        ):
            if value.text != text and value.kind != "call_expression":
                yield put("return.value", value, text, weight, place)
    if (
        len(values) == 1
        and is_value(values[0], place)
        and values[0].kind in {"binary_expression", "call_expression", "identifier"}
    ):
        binds = place.grammar.precedence["unary_expression"]
        inner = values[0].text if level(values[0], place.grammar) >= binds else f"({values[0].text})"
        yield put("return.truth", values[0], f"!{inner}", 0.4, place, binds)


def missing_return(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(x)` → `return f(x)`."""
    yield Proposal(
        "return.missing", 0.6, ((node.start, node.start, "return "),), f"return {shorten(node.text)}"
    )


def elements(node: Node, place: Place) -> Iterator[Proposal]:
    """A list or table of strings gets one more, which a failing test shows."""
    parts = node.parts
    if len(parts) < 2 or not all(_text_like(part, place) for part in parts):
        return
    quote = next((c for c in parts[0].text if c in "\"'`"), '"')
    held = {part.text.strip("\"'`") for part in parts}
    last = parts[-1]
    line = "\n" + place.tree.indent(last) if last.row > parts[0].row else " "
    for literal in sorted(place.hints.literals):
        if (
            0 < len(literal) < 40
            and literal not in held
            and quote not in literal
            and "\\" not in literal
            and not literal.isdigit()
        ):
            text = f",{line}{quote}{literal}{quote}"
            yield Proposal(
                "string.element", 0.8, ((last.end, last.end, text),), f"add {quote}{literal}{quote}"
            )


def _text_like(part: Node, place: Place) -> bool:
    inner = part.parts[0] if part.kind == "literal_element" and part.parts else part
    return inner.kind in place.grammar.strings
