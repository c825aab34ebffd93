"""A call put around an expression or taken off: conversions, bounds, ranges, methods, `await`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import (
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    arguments,
    called_name,
    is_value,
    precedence,
    put,
)
from deskagent.repair.nodes import Node
from deskagent.repair.scope import NUMBERS
from deskagent.repair.syntax import Syntax

# what an expression seems to be → functions often missing around it
WRAPPERS: dict[str, tuple[tuple[str, float], ...]] = {
    "list": (
        ("sorted", 0.6),
        ("tuple", 0.5),
        ("set", 0.4),
        ("reversed", 0.4),
        ("len", 0.4),
        ("sum", 0.2),
        ("list", 0.4),
    ),
    "iter": (("list", 1.0), ("sorted", 0.6), ("tuple", 0.5), ("set", 0.4), ("reversed", 0.3)),
    "set": (("sorted", 0.6), ("list", 0.6), ("len", 0.4)),
    "dict": (("dict", 0.5), ("list", 0.4), ("sorted", 0.4), ("len", 0.4)),
    "str": (("str", 0.3), ("int", 0.5), ("len", 0.5), ("repr", 0.3), ("list", 0.2)),
    "int": (("str", 0.5), ("abs", 0.5), ("int", 0.3), ("float", 0.2), ("range", 0.3), ("max", 0.0)),
    "float": (("int", 0.6), ("round", 0.6), ("abs", 0.5), ("str", 0.3)),
    "tuple": (("list", 0.6), ("sorted", 0.4), ("set", 0.3)),
    "": (
        ("list", 0.4),
        ("str", 0.4),
        ("len", 0.3),
        ("int", 0.3),
        ("sorted", 0.3),
        ("abs", 0.25),
        ("set", 0.25),
        ("tuple", 0.25),
        ("reversed", 0.2),
        ("bool", 0.15),
        ("float", 0.1),
        ("dict", 0.1),
        ("repr", 0.1),
    ),
}
_CONVERSIONS = frozenset(
    [
        "list",
        "tuple",
        "set",
        "sorted",
        "reversed",
        "str",
        "int",
        "float",
        "bool",
        "abs",
        "len",
        "dict",
        "iter",
        "repr",
        "round",
        "min",
        "max",
        "sum",
    ]
)
_VALUES = (
    "identifier",
    "call",
    "attribute",
    "subscript",
    "binary_operator",
    "list",
    "list_comprehension",
    "generator_expression",
    "string",
    "tuple",
)


def unwrap(node: Node, place: Place) -> Iterator[Proposal]:
    """`f(x)` → `x`."""
    given = arguments(node)
    function = node.get("function")
    if function is None or (function.kind == "attribute" and not is_value(node)):
        return
    for index, part in enumerate(given):
        if part.kind in {"keyword_argument", "list_splat", "dictionary_splat"} or (not is_value(node)):
            continue
        weight = (
            1.0
            if len(given) == 1 and called_name(node) in _CONVERSIONS
            else 0.7
            if len(given) == 1
            else 0.4 - 0.1 * min(index, 3)
        )
        yield put("call.unwrap", node, part.text, max(0.1, weight), precedence(part))


def wrap(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `list(x)`, `len(x)`, `abs(x)`, as its kind allows."""
    parent = node.parent
    if parent is None or not is_value(node) or parent.kind == "attribute" or node.end - node.start > 80:
        return
    if (
        parent.kind == "argument_list"
        and parent.parent is not None
        and called_name(parent.parent) in _CONVERSIONS
    ):
        return
    if parent.kind == "binary_operator" and node.kind == "binary_operator":
        return
    kind = place.kind(node)
    strong = parent.kind in {
        "return_statement",
        "assignment",
        "for_statement",
        "for_in_clause",
        "comparison_operator",
    }
    inner = node.text[1:-1] if node.kind == "generator_expression" else node.text
    for function, weight in WRAPPERS.get(kind, WRAPPERS[""]):
        if weight and called_name(node) != function:
            yield put("call.wrap", node, f"{function}({inner})", weight * (1.0 if strong else 0.6))


def wrap_as_elsewhere(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `self._key(x)`, where the file hands such a name to that function, or the function takes one value."""
    if not is_value(node) or node.end - node.start > 40:
        return
    parent = node.parent
    around = (
        called_name(parent.parent)
        if parent is not None and parent.kind == "argument_list" and parent.parent
        else ""
    )
    for function, (given, takes_one) in _one_valued(place).items():
        plain = function.rpartition(".")[2]
        own = place.function.get("name") if place.function is not None else None
        if plain == around or (own is not None and own.text == plain):
            continue
        if node.text in given:
            yield put("call.elsewhere", node, f"{function}({node.text})", 1.0)
        elif takes_one and node.kind == "identifier":
            yield put("call.elsewhere", node, f"{function}({node.text})", 0.3)


def _one_valued(place: Place) -> dict[str, tuple[set[str], bool]]:
    """Functions of the file, as they are called here → (the texts handed to them alone, whether they are the
    file's own and take one value)."""
    known = place.memo.get("one valued")
    if isinstance(known, dict):
        return known
    inside, names = "self" in place.names, place.names
    called, own = _of_one_value(place.syntax)
    found = {
        text: (given, False)
        for text, (plain, given) in called.items()
        if (plain and text in names) or (inside and text.startswith("self.") and text.count(".") == 1)
    }
    for name, method in own:
        if inside if method else name in names:
            text = f"self.{name}" if method else name
            found[text] = (found.get(text, (set(), False))[0], True)
    place.memo["one valued"] = found
    return found


@lru_cache(maxsize=32)
def _of_one_value(syntax: Syntax) -> tuple[dict[str, tuple[bool, set[str]]], list[tuple[str, bool]]]:
    """The file's calls with one value: text of the function → (whether it is a plain name, the texts handed to it); its
    own functions that take one: (name, whether it is a method)."""
    called: dict[str, tuple[bool, set[str]]] = {}
    for other in syntax.calls:
        function, given = other.get("function"), arguments(other)
        if function is None or len(given) != 1 or given[0].kind in {"keyword_argument", "list_splat"}:
            continue
        called.setdefault(function.text, (function.kind == "identifier", set()))[1].add(given[0].text)
    own: list[tuple[str, bool]] = []
    for node in syntax.statements:
        name, parameters = node.get("name"), node.get("parameters")
        if node.kind != "function_definition" or name is None or parameters is None:
            continue
        taken = [part for part in parameters.parts if part.text not in {"self", "cls"}]
        if len(taken) == 1 and not name.text.startswith("__"):
            own.append((name.text, len(taken) < len(parameters.parts)))
    return called, own


# what an expression seems to be → methods often missing after it
METHODS: dict[str, tuple[tuple[str, float], ...]] = {
    "str": (
        ("strip()", 0.8),
        ("lower()", 0.7),
        ("encode()", 0.5),
        ("upper()", 0.3),
        ("split()", 0.3),
        ("rstrip()", 0.4),
    ),
    "list": (("copy()", 0.8),),
    "dict": (("copy()", 0.7), ("items()", 0.7), ("values()", 0.6), ("keys()", 0.3)),
    "set": (("copy()", 0.7),),
    "int": (),
    "float": (),
    "bool": (),
    "": (
        ("strip()", 0.4),
        ("lower()", 0.4),
        ("copy()", 0.3),
        ("items()", 0.25),
        ("encode()", 0.25),
        ("decode()", 0.25),
        ("values()", 0.2),
        ("upper()", 0.15),
        ("rstrip()", 0.2),
    ),
}


def method(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `x.strip()`, `x.copy()`, `x.items()`, as its kind allows."""
    parent = node.parent
    if parent is None or not is_value(node) or parent.kind == "binary_operator" or node.end - node.start > 60:
        return
    chained = parent.kind == "attribute"
    if chained and not (
        parent.parent is not None and parent.parent.kind == "call" and parent.field == "function"
    ):
        return
    if node.kind == "identifier":
        name = place.names_at(node).get(node.text)
        if name is not None and name.origin in {"definition", "import"}:
            return
    kind = place.kind(node)
    if not kind and (place.numeric(node) or parent.kind in {"subscript", "slice", "return_statement"}):
        return
    for call, weight in METHODS.get(kind, METHODS[""]):
        yield put("call.method", node, f"{node.text}.{call}", weight * (0.5 if chained else 1.0))


def each(node: Node, place: Place) -> Iterator[Proposal]:
    """`line.split(",")` → `[part.strip() for part in line.split(",")]`: what a list holds wants treatment too."""
    if called_name(node) not in {"split", "rsplit", "splitlines", "readlines", "findall"} or not is_value(
        node
    ):
        return
    if node.parent is not None and node.parent.kind in {"subscript", "for_in_clause"}:
        return
    name = next(word for word in ("part", "piece", "entry", "found") if word not in place.names)
    for item, weight in (
        (f"{name}.strip()", 1.0),
        (f"int({name})", 0.5),
        (f"{name}.lower()", 0.4),
        (f"float({name})", 0.2),
    ):
        yield put("call.each", node, f"[{item} for {name} in {node.text}]", weight)
    yield put("call.each", node, f"[{name} for {name} in {node.text} if {name}]", 0.5)


def clamp(node: Node, place: Place) -> Iterator[Proposal]:
    """`best = x` → `best = max(best, x)`; `x` → `max(0, x)`, `min(n, x)`."""
    parent = node.parent
    if parent is None or not is_value(node) or node.kind in {"string", "list", "list_comprehension", "tuple"}:
        return
    kind = place.kind(node)
    if kind and kind not in NUMBERS:
        return
    if parent.kind == "assignment" and node.field == "right":
        left = parent.get("left")
        if left is not None and left.kind in {"identifier", "subscript", "attribute"}:
            known = place.names.get(left.text) if left.kind == "identifier" else None
            again = place.in_loop is not None and (known is None or known.writes > 1)
            if again:
                for function in ("max", "min"):
                    yield put("call.clamp", node, f"{function}({left.text}, {node.text})", 1.0)
                if left.text in node.text or (known is not None and known.kinds & NUMBERS):
                    yield put("call.clamp", node, f"max(0, {node.text})", 0.7)
                    yield put("call.clamp", node, f"min(0, {node.text})", 0.2)
                return
    if parent.kind in {"assignment", "return_statement", "slice", "subscript", "argument_list"} and (
        kind in NUMBERS or node.kind == "binary_operator"
    ):
        for text, weight in (
            (f"max(0, {node.text})", 0.5),
            (f"max(1, {node.text})", 0.3),
            (f"min(1, {node.text})", 0.1),
            *(((f"min(1.0, {node.text})", 0.5),) if "/" in node.text else ()),
        ):
            yield put("call.clamp", node, text, weight * (1.0 if "-" in node.text else 0.6))


def ranges(node: Node, place: Place) -> Iterator[Proposal]:
    """`range(n)` → `range(1, n)`, `range(n + 1)`, backwards; `x` → `enumerate`'s start."""
    name, given = called_name(node), arguments(node)
    if name == "enumerate" and len(given) == 1:
        yield put("call.range", node, f"enumerate({given[0].text}, 1)", 0.5)
    if name != "range" or not given or any(part.kind == "list_splat" for part in given):
        return
    texts = [part.text for part in given]
    if len(texts) == 1:
        end = texts[0]
        yield put("call.range", node, f"range(1, {end})", 0.8)
        yield put("call.range", node, f"range(1, {end} + 1)", 0.8)
        yield put("call.range", node, f"range({end} - 1, -1, -1)", 0.3)
        if place.kind(given[0]) in {"list", "str"}:
            yield put("call.range", node, f"range(len({end}))", 0.8)
    elif len(texts) == 2:
        start, end = texts
        yield put("call.range", node, f"range({end})", 0.4)
        if start == "0":
            yield put("call.range", node, f"range(1, {end} + 1)", 0.4)
        yield put("call.range", node, f"range({end} - 1, {start} - 1, -1)", 0.2)
    yield put("call.range", node, f"reversed({node.text})", 0.4)


def values(node: Node, place: Place) -> Iterator[Proposal]:
    """`d[k]` → `d.get(k)`, `d.get(k, 0)`; `d.get(k)` → `d[k]`, with a default."""
    if node.kind == "subscript":
        value, index = node.get("value"), node.get("subscript")
        if value is None or index is None or not is_value(node) or index.kind == "slice":
            return
        named = place.names.get(value.text) if value.kind == "identifier" else None
        mapping = named is None or not named.kinds or "dict" in named.kinds
        if mapping and place.kind(index) not in NUMBERS:
            for default, weight in (("", 0.7), (", 0", 0.5), (", []", 0.3), (", ''", 0.2)):
                yield put("call.get", node, f"{value.text}.get({index.text}{default})", weight)
        return
    function, given = node.get("function"), arguments(node)
    if called_name(node) == "get" and function is not None and function.kind == "attribute" and given:
        owner = function.get("object")
        if owner is None:
            return
        if len(given) == 1:
            for default, weight in (
                ("0", 0.8),
                ("''", 0.4),
                ("[]", 0.4),
                ("{}", 0.3),
                ("False", 0.2),
                (given[0].text, 0.3),
            ):
                yield put("call.get", node, f"{owner.text}.get({given[0].text}, {default})", weight)
        yield put("call.get", node, f"{owner.text}[{given[0].text}]", 0.4)


def awaiting(node: Node, place: Place) -> Iterator[Proposal]:
    """A call in a coroutine → awaited; `await x` → `x`."""
    if node.kind == "await":
        parts = node.parts
        if parts:
            yield put("call.await", node, parts[0].text, 0.4, precedence(parts[0]))
        return
    function = place.function
    if function is None or not any(child.kind == "async" for child in function.children):
        return
    if node.parent is not None and node.parent.kind != "await":
        yield put("call.await", node, f"await {node.text}", 1.0, PRECEDENCE["await"])


TABLE: Table = {
    "call": (unwrap, wrap, wrap_as_elsewhere, method, each, clamp, ranges, values, awaiting),
    "await": (awaiting,),
    "subscript": (values, wrap, wrap_as_elsewhere, method, clamp),
    "identifier": (wrap, wrap_as_elsewhere, method, clamp),
    "attribute": (wrap, wrap_as_elsewhere, method, clamp),
    **{
        kind: (wrap, clamp)
        for kind in _VALUES
        if kind not in {"call", "subscript", "identifier", "attribute"}
    },
}
