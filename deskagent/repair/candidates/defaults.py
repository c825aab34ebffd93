"""Values where none is given: parameters, fields, options of a command line, and how options are read."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, called_name, put
from deskagent.repair.candidates.shown import literal, written
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import is_docstring

# for options of argparse and of its like
OPTIONS = (
    ("type=int", 0.9), ("type=float", 0.6), ('action="store_true"', 0.8), ('action="append"', 0.5), ('nargs="*"', 0.6),
    ('nargs="+"', 0.6), ('nargs="?"', 0.6), ("required=True", 0.5), ("type=str.lower", 0.2), ('action="count"', 0.2),
    ("type=Path", 0.3),
)  # fmt: skip
_OPTION_CALLS = frozenset({"add_argument", "option", "argument", "add_option", "Option", "Argument"})
_FIELD_CALLS = frozenset({"field", "Field", "attrib", "ib", "Column"})
_PLAIN = (
    ("None", 0.8),
    ("0", 0.7),
    ("''", 0.6),
    ("False", 0.7),
    ("1", 0.5),
    ("()", 0.5),
    ("True", 0.4),
    ("[]", 0.3),
    ("{}", 0.2),
)
# annotation → values that are no values
EMPTY = {
    "int": ("0", "1", "None"), "float": ("0.0", "1.0", "None"), "str": ('""', "None"), "bool": ("False", "True"),
    "list": ("field(default_factory=list)", "None"), "dict": ("field(default_factory=dict)", "None"),
    "set": ("field(default_factory=set)", "None"), "tuple": ("()",),
}  # fmt: skip


def _choices(place: Place) -> dict[str, float]:
    """Values that the file itself speaks for: keys of its tables, values of like parameters and fields."""
    found: dict[str, float] = {}
    for node in place.syntax.root.walk():
        if node.kind == "pair":
            key = node.get("key")
            if key is not None and key.kind in {"integer", "string"} and key.end - key.start < 20:
                found.setdefault(key.text, 0.5)
        elif node.kind in {"default_parameter", "typed_default_parameter"}:
            value = node.get("value")
            if value is not None and value.end - value.start < 20:
                found.setdefault(value.text, 0.5)
        if len(found) >= 30:
            break
    return found


def options(node: Node, place: Place) -> Iterator[Proposal]:
    """`add_argument("--n", type=int)` → with `default=2`; `field()` → `field(default_factory=list)`."""
    name, given = called_name(node), arguments(node)
    if not given or name not in _OPTION_CALLS | _FIELD_CALLS:
        return
    keywords = {part.parts[0].text: part for part in given if part.kind == "keyword_argument"}
    at = given[-1].end
    fits = (
        {"int": int, "float": float, "str": str}.get(keywords["type"].parts[-1].text)
        if "type" in keywords
        else None
    )
    values: dict[str, float] = dict(_PLAIN)
    for wanted in place.hints.examples.expected[:10]:
        if type(wanted) in (int, float, str, bool) and len(repr(wanted)) < 40:
            values[written(given[0], wanted)] = 1.0
    for text, weight in _choices(place).items():
        values.setdefault(text, weight)
    for text, weight in values.items():
        if fits is not None and text != "None" and not _is(text, fits):
            continue
        if "default" in keywords:
            yield put("default.given", keywords["default"].parts[-1], text, weight)
        else:
            new = f"default={text}"
            yield Proposal("default.given", weight, ((at, at, f", {new}"),), f"pass {new} to {name}")
    if name in _FIELD_CALLS:
        return
    for text, weight in OPTIONS:
        if text.partition("=")[0] not in keywords:
            yield Proposal("default.given", 0.8 * weight, ((at, at, f", {text}"),), f"pass {text} to {name}")


def _is(text: str, kind: type) -> bool:
    try:
        value = kind(text.strip("'\"")) if kind is not str else text[:1] in "'\""
    except ValueError:
        return False
    return bool(value) or value == 0


def parameters(node: Node, place: Place) -> Iterator[Proposal]:
    """`def f(a, b)` → `def f(a, b=None)`; another value for one that has one."""
    signature = node.get("parameters")
    parts = signature.parts if signature is not None else []
    for index, part in enumerate(parts):
        if part.kind in {"default_parameter", "typed_default_parameter"}:
            value = part.get("value")
            if value is not None:
                for text, weight in _other(value, place):
                    yield put("default.given", value, text, weight)
            continue
        last = all("default" in p.kind or p.kind.endswith("_pattern") for p in parts[index + 1 :])
        name = (
            part
            if part.kind == "identifier"
            else part.parts[0]
            if part.kind == "typed_parameter" and part.parts
            else None
        )
        if not last or name is None or name.kind != "identifier" or name.text in {"self", "cls"}:
            continue
        asked = 1.0 if name.text in place.hints.missing else 0.25
        equals = " = " if part.kind == "typed_parameter" else "="
        for text, weight in _PLAIN:
            yield Proposal(
                "default.given", asked * weight, ((part.end, part.end, equals + text),), f"{name.text}={text}"
            )


def _other(value: Node, place: Place) -> Iterator[tuple[str, float]]:
    """Other values of the same kind, as the failing tests want them."""
    old = literal(value)
    for index, wanted in enumerate(place.hints.examples.expected[:8]):
        if wanted != old and type(wanted) is type(old) and type(wanted) in (int, float, str, bool):
            yield written(value, wanted), 1.0 - 0.1 * index
    for text, weight in _PLAIN:
        if text != value.text:
            yield text, 0.3 * weight


def fields(node: Node, place: Place) -> Iterator[Proposal]:
    """`count: int` in a class → `count: int = 0`; a mutable value → `field(default_factory=list)`."""
    value = node.parts[0] if node.parts else None
    kind = value.get("type") if value is not None and value.kind == "assignment" else None
    if value is None or kind is None or place.function is not None or is_docstring(node):
        return
    right = value.get("right")
    base = kind.text.partition("[")[0]
    offered = list(EMPTY.get(base, ("None",)))
    for wanted in place.hints.examples.expected[:6]:
        if type(wanted).__name__ == base and base in {"int", "float", "str", "bool"}:
            offered.append(repr(wanted))
    for index, text in enumerate(offered):
        if right is None:
            weight = 1.0 - 0.2 * min(index, 3)
            yield Proposal(
                "default.given", weight, ((value.end, value.end, f" = {text}"),), f"{value.text} = {text}"
            )
        elif text != right.text:
            yield put("default.given", right, text, 0.6)


TABLE: Table = {"call": (options,), "function_definition": (parameters,), "expression_statement": (fields,)}
