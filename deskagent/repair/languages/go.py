"""Go's table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deskagent.repair.candidates import priors
from deskagent.repair.candidates.base import Proposal, exchange, shorten
from deskagent.repair.languages import calls, conditions, expressions, names, statements
from deskagent.repair.languages.fit import operator_of, put
from deskagent.repair.languages.grammar import Changes, Grammar
from deskagent.repair.languages.javascript import pairs
from deskagent.repair.languages.place import Operator, Place
from deskagent.repair.syntax import Node

PRIORS: dict[str, float] = {
    **priors.OPERATORS,
    "condition.else": 0.15,
    "error.check": 0.40,
    "error.kept": 0.30,
    "loop.pair": 0.35,
    "pointer.receiver": 0.45,
    "pointer.value": 0.15,
    "declare.shadow": 0.45,
    "defer.put": 0.30,
    "slice.copy": 0.35,
    "type.conversion": 0.15,
    "return.order": 0.25,
}

PRECEDENCE = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "+": 4, "-": 4, "|": 4, "^": 4,
    "*": 5, "/": 5, "%": 5, "<<": 5, ">>": 5, "&": 5, "&^": 5, "unary_expression": 6,
}  # fmt: skip

CHANGES: Changes = {
    "<": (("<=", "compare.boundary", 1.0), (">", "compare.flip", 1.0), (">=", "compare.flip", 0.5), ("!=", "compare.relation", 0.3)),
    "<=": (("<", "compare.boundary", 1.0), (">=", "compare.flip", 1.0), (">", "compare.flip", 0.5), ("==", "compare.relation", 0.3)),
    ">": ((">=", "compare.boundary", 1.0), ("<", "compare.flip", 1.0), ("<=", "compare.flip", 0.5), ("!=", "compare.relation", 0.3)),
    ">=": ((">", "compare.boundary", 1.0), ("<=", "compare.flip", 1.0), ("<", "compare.flip", 0.5), ("==", "compare.relation", 0.3)),
    "==": (("!=", "compare.negate", 0.8), ("<=", "compare.relation", 0.6), (">=", "compare.relation", 0.6)),
    "!=": (("==", "compare.negate", 0.8), ("<", "compare.relation", 0.5), (">", "compare.relation", 0.5)),
    "&&": (("||", "condition.connective", 1.0),),
    "||": (("&&", "condition.connective", 1.0),),
    "+": (("-", "arithmetic.operator", 1.0), ("*", "arithmetic.operator", 0.4)),
    "-": (("+", "arithmetic.operator", 1.0), ("/", "arithmetic.operator", 0.2)),
    "*": (("/", "arithmetic.operator", 0.6), ("+", "arithmetic.operator", 0.5)),
    "/": (("*", "arithmetic.operator", 0.7), ("%", "arithmetic.operator", 0.6), ("-", "arithmetic.operator", 0.2)),
    "%": (("/", "arithmetic.operator", 0.8),),
    "&": (("|", "arithmetic.operator", 1.0), ("^", "arithmetic.operator", 0.5), ("&^", "arithmetic.operator", 0.6)),
    "|": (("&", "arithmetic.operator", 1.0), ("^", "arithmetic.operator", 0.5)),
    "^": (("&", "arithmetic.operator", 0.8), ("|", "arithmetic.operator", 0.8)),
    "&^": (("&", "arithmetic.operator", 1.0), ("|", "arithmetic.operator", 0.5)),
    "<<": ((">>", "arithmetic.operator", 1.0),),
    ">>": (("<<", "arithmetic.operator", 1.0),),
}  # fmt: skip

MEMBERS: Mapping[str, Sequence[tuple[str, float]]] = {
    **pairs(
        "HasPrefix HasSuffix", "TrimPrefix TrimSuffix", "TrimLeft TrimRight", "TrimPrefix TrimLeft", "TrimSuffix TrimRight",
        "TrimSpace Trim", "Index LastIndex", "IndexByte LastIndexByte", "ToUpper ToLower ToTitle", "Split SplitN SplitAfter",
        "Contains ContainsAny ContainsRune HasPrefix", "Replace ReplaceAll", "Fields Split", "Count Index", "Equal EqualFold",
        "Lock Unlock RLock", "RLock RUnlock", "Min Max", "Floor Ceil Round Trunc", "Sqrt Cbrt", "Sort Stable", "Ints Strings Float64s",
        "SliceStable Slice", "Before After Equal", "Add Sub", "Seconds Minutes Hours Milliseconds", "Second Minute Hour Millisecond",
        "Printf Println Print", "Sprintf Sprint Sprintln", "Errorf Sprintf", "Is As", "Marshal MarshalIndent", "ReadAll ReadFile",
        "IsDigit IsLetter IsNumber", "IsUpper IsLower", "IsSpace IsPunct", "PushBack PushFront", "Front Back", "Next Prev", "Left Right",
        "First Last", "Itoa FormatInt", "Atoi ParseInt", "ParseInt ParseUint ParseFloat", "WriteString WriteByte WriteRune",
        "Day YearDay", "Done Add", "Store Load", "Key Value", "Width Height", "Start End",
    ),
    "()": (),
}  # fmt: skip
WORDS: Mapping[str, Sequence[tuple[str, float]]] = {
    **pairs("len cap", "min max", "append copy", "int int64", "float64 float32", "print println"),
    "(": (("len", 0.5), ("int", 0.3), ("float64", 0.3), ("string", 0.3), ("strings.TrimSpace", 0.4), ("strings.ToLower", 0.4), ("[]rune", 0.4),
          ("abs", 0.2), ("math.Abs", 0.2)),
}  # fmt: skip
LITERALS = {
    "int_literal": "int", "float_literal": "float64", "interpreted_string_literal": "string", "raw_string_literal": "string",
    "rune_literal": "rune", "true": "bool", "false": "bool", "composite_literal": "list", "func_literal": "call",
}  # fmt: skip


def errors(node: Node, place: Place) -> Iterator[Proposal]:
    """After `x, err := f()` the check that is missing; `_` that was `err`."""
    left = node.get("left")
    if left is None or not statements.alone(node, place):
        return
    held = [part.text for part in left.parts]
    tree = place.tree
    indent, unit = tree.indent(node), tree.unit
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
    from deskagent.repair.languages.place import visible

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
        for node in place.tree.root.walk():
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
        yield put("type.conversion", node, text, 1.0, place, PRECEDENCE.get(token.text, 0))


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
    for old, new, weight in (("%d", "%02d", 1.0), ("%s", "%q", 0.6), ("%v", "%+v", 0.4), ("%f", "%.2f", 0.8), ("%.2f", "%.1f", 0.5), ("%.1f", "%.2f", 0.7),
                             ("%02d", "%d", 0.5), ("%d", "%x", 0.3), ("%x", "%02x", 0.8), ("%v", "%s", 0.3), ("%d", "%03d", 0.3), ("%w", "%v", 0.2),
                             ("%v", "%w", 0.8), ("%s", "%w", 0.6), ("%q", "%s", 0.6), ("%X", "%x", 0.5), ("%x", "%X", 0.5), ("%02d", "%03d", 0.3)):  # fmt: skip
        at = text.find(old)
        while at >= 0:
            start = body.start + len(text[:at].encode())
            yield Proposal("string.format", weight, ((start, start + len(old), new),), f"{old} → {new}")
            at = text.find(old, at + 1)


VALUES: tuple[Operator, ...] = (
    names.variable,
    expressions.offset,
    expressions.term,
    calls.wrap,
    names.choices,
)
TABLE: Mapping[str, Sequence[Operator]] = {
    "statement": (statements.delete, statements.move, statements.insert),
    "binary_expression": (expressions.operator, expressions.operands, expressions.sizes, conditions.connective, expressions.offset),
    "assignment_statement": (expressions.operator, expressions.plain_assignment, shadow, errors, copied),
    "short_var_declaration": (shadow, errors, copied),
    "inc_statement": (expressions.step,),
    "dec_statement": (expressions.step,),
    "unary_expression": (expressions.unary, pointers),
    "int_literal": (expressions.number,),
    "float_literal": (expressions.number,),
    "true": (expressions.word,),
    "false": (expressions.word,),
    "interpreted_string_literal": (expressions.text, shown),
    "rune_literal": (),
    "identifier": VALUES,
    "selector_expression": (names.member, expressions.offset, calls.wrap, names.variable, names.rebind),
    "index_expression": (expressions.swap_index, expressions.offset, calls.wrap),
    "slice_expression": (expressions.boundaries,),
    "call_expression": (calls.order, calls.fewer, calls.more, calls.unwrap, calls.wrap, names.function, expressions.offset, appended, conversion, made),
    "if_statement": (conditions.branch, conditions.otherwise),
    "for_statement": (conditions.branch,),
    "for_clause": (conditions.branch,),
    "range_clause": (pair,),
    "return_statement": (statements.returned, copied),
    "expression_statement": (deferred, statements.missing_return),
    "defer_statement": (deferred,),
    "method_declaration": (receiver,),
    "literal_value": (statements.elements,),
}  # fmt: skip

GRAMMAR = Grammar(
    name="go",
    compound=frozenset(
        ["if_statement", "for_statement", "expression_switch_statement", "type_switch_statement", "select_statement", "function_declaration",
         "method_declaration", "expression_case", "type_case", "default_case", "communication_case", "labeled_statement"]
    ),
    simple=frozenset(
        ["expression_statement", "return_statement", "break_statement", "continue_statement", "goto_statement", "fallthrough_statement",
         "short_var_declaration", "assignment_statement", "inc_statement", "dec_statement", "var_declaration", "const_declaration",
         "defer_statement", "go_statement", "send_statement", "import_declaration", "type_declaration", "package_clause"]
    ),
    functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
    loops=frozenset({"for_statement"}),
    blocks=frozenset({"block", "statement_list"}),
    pauses=frozenset(
        ["initializer", "condition", "update", "for_clause", "body", "consequence", "communication", "receive_statement"]
    ),
    member=("selector_expression", "operand", "field"),
    index=("index_expression", "operand", "index"),
    arguments="argument_list",
    skipped=frozenset({"comment", "type_identifier", "slice_type", "map_type", "pointer_type", "qualified_type", "type_parameter_list", "struct_type",
                       "interface_type", "function_type", "channel_type", "array_type", "generic_type"}),
    strings=frozenset({"interpreted_string_literal", "raw_string_literal", "rune_literal"}),
    string_text=frozenset({"interpreted_string_literal_content"}),
    numbers=frozenset({"int_literal", "float_literal"}),
    writes=frozenset({("assignment_statement", "left"), ("inc_statement", ""), ("dec_statement", ""), ("range_clause", "left")}),
    declares=frozenset(
        {("short_var_declaration", "left"), ("range_clause", "left"), ("var_spec", "name"), ("const_spec", "name"),
         ("parameter_declaration", "name"), ("variadic_parameter_declaration", "name"), ("function_declaration", "name"), ("type_spec", "name")}
    ),
    precedence=PRECEDENCE,
    changes=CHANGES,
    members=MEMBERS,
    words=WORDS,
    literals=LITERALS,
    nothing="nil",
    end="",
    priors=PRIORS,
    table=TABLE,
)  # fmt: skip
