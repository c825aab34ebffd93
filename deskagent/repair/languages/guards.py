"""Guards and early returns, what is given back, and lists that lack an element."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Proposal, shorten
from deskagent.repair.languages.fit import is_value, level, put
from deskagent.repair.languages.place import Place
from deskagent.repair.languages.statements import around, unseen
from deskagent.repair.nodes import Node


def early(node: Node, place: Place) -> Iterator[Proposal]:
    """A guard before the statement, or at the start of the function or loop that it is."""
    if node.parent is None or place.function is None:
        return
    for text, weight in _guards(place):
        yield from around(node, place, text, weight, operator="guard.early", inside=False)


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
            yield from _ended(test, weight, ends, place)
    for text in _indexed(place):
        yield from _ended(f"len({text}) == 0" if go else f"{text}.length === 0", 1.0, ends, place)
    yield from _borrowed(place)


def _ended(
    test: str, weight: float, ends: list[tuple[str, float]], place: Place
) -> Iterator[tuple[str, float]]:
    go = place.grammar.name == "go"
    for ending, share in ends[:8]:
        text = f"if {test} {{\n\t{ending}\n}}" if go else f"if ({test}) {ending}"
        yield _indented(text, place), weight * share


def _indexed(place: Place) -> list[str]:
    """What the statement looks into by an index or a range, if it is more than a name."""
    kinds = {place.grammar.index[0], "slice_expression"}
    held = [node.get("operand") or node.get("object") for node in place.nodes if node.kind in kinds]
    return list(
        dict.fromkeys(node.text for node in held if node is not None and node.kind == place.grammar.member[0])
    )


def _borrowed(place: Place) -> Iterator[tuple[str, float]]:
    """Guards of the file's other functions, where all they name can be seen here."""
    strange = unseen(place)
    seen: set[str] = set()
    for other in place.tree.statements:
        block = place.tree.block(other) if other.kind == "if_statement" else None
        inner = place.tree.inner(block) if block is not None else []
        if (
            len(inner) != 1
            or inner[0].kind not in _ENDINGS
            or other.get("alternative") is not None
            or other.end - other.start > 160
        ):
            continue
        names = {node.text for node in other.walk() if node.kind == "identifier"}
        if (
            strange.isdisjoint(names)
            and place.function is not place.tree.function_of(other)
            and other.text not in seen
        ):
            seen.add(other.text)
            own = place.tree.indent(other)
            lines = [line.removeprefix(own) for line in other.text.splitlines()]
            yield _indented("\n".join(lines), place), 1.0


_ENDINGS = frozenset({"return_statement", "throw_statement", "continue_statement"})


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
    strange = unseen(place)
    for node in place.scope_nodes:
        if node.kind == "return_statement" and node.end - node.start < 60:
            text = node.parts[0].text if node.parts else ""
            inner = [n.text for n in node.walk() if n.kind == "identifier"]
            if not strange.isdisjoint(inner):
                continue
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
    """Another value given back, of the kind that the function states where it states one."""
    values = [p for part in node.parts for p in (part.parts if part.kind == "expression_list" else [part])]
    kinds = _result_kinds(place)
    for index, value in enumerate(values[:3]):
        wanted = kinds[index] if len(kinds) == len(values) else ""
        if value.kind in {"true", "false"}:
            continue
        for name in place.own_variables:
            if name.text != value.text and (not wanted or not name.kinds or wanted in name.kinds):
                yield put("return.value", value, name.text, 0.4 if name.origin == "local" else 0.25, place)
        for text, weight in (
            (place.grammar.nothing, 0.3),
            ("true", 0.2),
            ("false", 0.2),
            ("0", 0.15),
            ("1", 0.1),
        ):
            if value.text != text and value.kind != "call_expression" and _fits(text, wanted):
                yield put("return.value", value, text, weight, place)
    if (
        len(values) == 1
        and is_value(values[0], place)
        and values[0].kind in _TRUTHS
        and _fits("true", "".join(kinds))
    ):
        binds = place.grammar.precedence["unary_expression"]
        inner = values[0].text if level(values[0], place.grammar) >= binds else f"({values[0].text})"
        yield put("return.truth", values[0], f"!{inner}", 0.4, place, binds)


_TRUTHS = frozenset({"binary_expression", "call_expression", "identifier"})


def _result_kinds(place: Place) -> list[str]:
    """The types that the function gives back as it states them, [] where it doesn't."""
    result = place.function.get("result") if place.function is not None else None
    if result is None:
        return []
    parts = result.parts if result.kind == "parameter_list" else [result]
    return [kind.text if (kind := part.get("type")) is not None else part.text for part in parts]


def _fits(literal: str, kind: str) -> bool:
    """Whether a literal can be of a stated type; of an unstated one it can."""
    if not kind:
        return True
    if literal in {"true", "false"}:
        return kind == "bool"
    if literal.lstrip("-").isdigit():
        return kind not in {"bool", "string", "error"} and not kind.startswith(
            ("*", "[", "map", "func", "chan")
        )
    return kind == "error" or kind.startswith(("*", "[", "map", "func", "chan", "interface", "any"))


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
