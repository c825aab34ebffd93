"""Small things forgotten over and over: a copy, a second sort key, which blanks are stripped, `from None`, a default
that 0 is not."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, called_name, put
from deskagent.repair.candidates.blocks import alone, instead, text_end
from deskagent.repair.candidates.known import EMPTY, first_values, owner_of
from deskagent.repair.nodes import Node

_COPIES = {"dictionary": ("dict({0})", "{0}.copy()"), "list": ("list({0})", "{0}[:]", "{0}.copy()"),
           "set": ("set({0})", "{0}.copy()")}  # fmt: skip
_DEEP = "copy.deepcopy({0})"
_STRIPS = (
    'rstrip("\\n")',
    "rstrip()",
    "lstrip()",
    "strip()",
    'strip(" ")',
    'strip("\\n")',
    'rstrip("\\r\\n")',
)
_ZEROS = ("0", "1", "None", '""', "[]", "{}", "False", "()")


def absent(node: Node, place: Place) -> Iterator[Proposal]:
    """`x = x or d` → `if x is None: x = d`."""
    value = node.parts[0] if node.parts else None
    left, right = (value.get("left"), value.get("right")) if value is not None else (None, None)
    if left is None or right is None or right.kind != "boolean_operator" or not alone(node):
        return
    first, second, word = right.get("left"), right.get("right"), right.get("operator")
    if first is None or second is None or word is None or word.text != "or" or first.text != left.text:
        return
    falsy = any(not v and v is not None for v in place.hints.examples.given)
    lines = f"if {left.text} is None:\n{place.syntax.unit}{left.text} = {second.text}"
    yield Proposal(
        "absent.given", 1.0 if falsy else 0.6, (instead(node, lines),), f"{left.text} only where None"
    )


def copied(node: Node, place: Place) -> Iterator[Proposal]:
    """`self.options = self.defaults` → `dict(self.defaults)`: what is shared and then changed."""
    value = node.get("right")
    if value is None or value.kind not in {"attribute", "identifier"}:
        return
    kinds = _collection(value, place)
    for kind in kinds:
        for index, form in enumerate(_COPIES[kind]):
            yield put("call.copy", value, form.format(value.text), 0.8**index)
    if kinds and "copy" in place.names:
        yield put("call.copy", value, _DEEP.format(value.text), 0.4)
    elif kinds and "deepcopy" in place.names:
        yield put("call.copy", value, f"deepcopy({value.text})", 0.4)


def _collection(value: Node, place: Place) -> list[str]:
    """Which collection it is, by what the file first gives the name."""
    name = value.text.rpartition(".")[2]
    initial = ""
    if value.kind == "identifier":
        known = place.names.get(name)
        if known is None or known.origin not in {"module", "parameter", "outer"}:
            return []
        initial = known.initial
        if known.kinds & {"dict", "list", "set"}:
            return [{"dict": "dictionary"}.get(k, k) for k in sorted(known.kinds & {"dict", "list", "set"})]
        return ["dictionary", "list"] if known.origin == "parameter" and not known.kinds else []
    owner = owner_of(value)
    for part in owner.walk() if owner is not None else ():
        left, right = (part.get("left"), part.get("right")) if part.kind == "assignment" else (None, None)
        if left is not None and right is not None and left.text == name and right.kind in _COPIES:
            return [right.kind]
    initial = initial or (first_values(owner).get(value.text, "") if owner is not None else "")
    if initial in EMPTY:
        return ["dictionary" if initial in {"{}", "dict()"} else "set" if "set" in initial else "list"]
    return []


def second_key(node: Node, place: Place) -> Iterator[Proposal]:
    """`key=lambda r: r[1]` → `key=lambda r: (r[1], r[0])`; `(r[1], r)`."""
    name, value = node.get("name"), node.get("value")
    if name is None or value is None or name.text != "key" or value.kind != "lambda":
        return
    body, given = value.get("body"), value.get("parameters")
    if body is None or given is None or given.text.count(",") or body.kind == "tuple":
        return
    row = given.text
    others = (
        [f"{row}[0]", row, f"{row}[1]"] if f"{row}[" in body.text else [row, f"{row}.name", f"str({row})"]
    )
    for index, other in enumerate(o for o in others if o != body.text):
        yield put("call.key", body, f"({body.text}, {other})", 0.8**index)
    if not body.text.startswith("-"):
        yield put("call.key", body, f"-{body.text}", 0.3)
    if place.kind(body) in {"", "str"} and ".lower()" not in body.text:
        yield put("call.key", body, f"{body.text}.lower()", 0.3)


def stripped(node: Node, place: Place) -> Iterator[Proposal]:
    """`line.strip()` → `line.rstrip("\\n")`, `line.rstrip()`."""
    function, given = node.get("function"), node.get("arguments")
    name = called_name(node)
    if function is None or given is None or name not in {"strip", "rstrip", "lstrip"} or arguments(node):
        return
    attribute = function.get("attribute")
    if attribute is None:
        return
    blank = any(isinstance(v, str) and v != v.strip() for v in place.hints.examples.expected[:10])
    for index, form in enumerate(f for f in _STRIPS if f != f"{name}()"):
        edit = (attribute.start, node.end, form)
        yield Proposal("call.strip", (1.0 if blank else 0.5) * 0.85**index, (edit,), f"{name}() → {form}")


def chained(node: Node, place: Place) -> Iterator[Proposal]:
    """`raise X(…)` in an except clause → `raise X(…) from None`, `from error`."""
    if node.kind != "raise_statement" or not node.parts or node.get("cause") is not None:
        return
    clause = next((n for n in node.ancestors() if n.kind == "except_clause"), None)
    if clause is None or " from " in node.parts[-1].text:
        return
    at = text_end(node)
    asked = bool(place.hints.message & {"__cause__", "__context__", "__suppress_context__"})
    pattern = next((n for n in clause.walk() if n.kind == "as_pattern_target"), None)
    ways = ([(pattern.text, 1.0)] if pattern is not None else []) + [("None", 0.9)]
    for text, weight in ways:
        yield Proposal(
            "exception.from", weight if asked else 0.2 * weight, ((at, at, f" from {text}"),), f"from {text}"
        )


def fallback(node: Node, place: Place) -> Iterator[Proposal]:
    """`d[k]` → `d.get(k, 0)`, where a key was not found."""
    value, index = node.get("value"), node.get("subscript")
    if "KeyError" not in place.hints.exceptions or value is None or index is None or node.field == "left":
        return
    if index.kind in {"slice", "integer"} or (
        node.parent is not None and node.parent.kind == "delete_statement"
    ):
        return
    tight = node.parent is not None and node.parent.kind in {
        "binary_operator",
        "augmented_assignment",
        "comparison_operator",
    }
    for number, text in enumerate(_ZEROS):
        weight = 0.85**number * (
            1.0 if tight and text.isdigit() else 0.5 if not tight or text == "None" else 0.2
        )
        yield put("call.get", node, f"{value.text}.get({index.text}, {text})", weight)


def last_few(node: Node, place: Place) -> Iterator[Proposal]:
    """`xs[-n:]`, which is all of them for n = 0 → `xs[-n:] if n else []`, `xs[len(xs) - n:]`."""
    value, part = node.get("value"), node.get("subscript")
    if value is None or part is None or part.kind != "slice" or len(part.parts) != 1:
        return
    start = part.parts[0]
    if start.kind != "unary_operator" or not start.text.startswith("-") or not part.text.endswith(":"):
        return
    count = start.text[1:]
    if count.isdigit():
        return
    weight = 1.0 if 0 in place.hints.examples.given else 0.4
    empty = '""' if place.kind(value) == "str" else "[]"
    yield put("index.last", node, f"{node.text} if {count} else {empty}", weight, 0)
    yield put("index.last", node, f"{value.text}[len({value.text}) - {count}:]", 0.9 * weight)


TABLE: Table = {
    "expression_statement": (absent,), "assignment": (copied,), "keyword_argument": (second_key,),
    "call": (stripped,), "raise_statement": (chained,), "subscript": (fallback, last_few),
}  # fmt: skip
