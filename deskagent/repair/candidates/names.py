"""Wrong names: another variable, another function, an attribute for a name, an expression from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import (
    BUILTINS,
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    called_name,
    is_value,
    precedence,
    put,
    similarity,
)
from deskagent.repair.candidates.known import owner_of, used
from deskagent.repair.nodes import Node
from deskagent.repair.scope import Name, role
from deskagent.repair.syntax import LOOPS, Syntax

# Built-in functions taken for each other.
BUILTIN_SWAPS: dict[str, tuple[str, ...]] = {
    "any": ("all",),
    "all": ("any",),
    "min": ("max", "sum"),
    "max": ("min", "sum"),
    "sum": ("max", "len"),
    "sorted": ("list", "reversed", "set"),
    "reversed": ("sorted", "list", "iter"),
    "list": ("tuple", "set", "sorted"),
    "tuple": ("list",),
    "set": ("list", "frozenset", "sorted"),
    "frozenset": ("set",),
    "str": ("repr", "bytes"),
    "repr": ("str",),
    "int": ("float", "round", "str"),
    "float": ("int", "str"),
    "round": ("int",),
    "len": ("sum", "max"),
    "zip": ("enumerate",),
    "enumerate": ("zip", "range"),
    "map": ("filter",),
    "filter": ("map",),
    "range": ("enumerate",),
    "isinstance": ("issubclass",),
    "issubclass": ("isinstance",),
    "getattr": ("hasattr",),
    "hasattr": ("getattr",),
    "dict": ("list", "OrderedDict"),
    "abs": ("int",),
    "chr": ("ord", "str"),
    "ord": ("chr", "int"),
    "floor": ("ceil",),
    "ceil": ("floor", "round"),
    "iter": ("list",),
    "next": ("list",),
    "callable": ("bool",),
}
_MATCHING = ("subscript", "attribute", "call")


def variables(node: Node, place: Place) -> Iterator[Proposal]:
    """A variable → another variable of the scope, the likelier the more alike in name and in use."""
    if role(node) != "read" or (
        node.parent is not None and node.parent.kind == "call" and node.field == "function"
    ):
        return
    here = place.names_at(node).get(node.text)
    shape = _shape(node)
    for name in place.variables(node):
        if name.text != node.text:
            weight = _fit(name, node, here, shape)
            if weight > 0.02:
                yield put("name.variable", node, name.text, weight)


def _shape(node: Node) -> str:
    """How a name is used where it stands."""
    parent = node.parent
    if parent is None:
        return ""
    if parent.kind == "subscript":
        return "indexed" if node.field == "value" else "index"
    if parent.kind == "attribute":
        attribute = parent.get("attribute")
        return "." + (attribute.text if attribute is not None else "")
    if parent.kind in {"for_statement", "for_in_clause"}:
        return "iterated"
    if parent.kind == "binary_operator":
        return "arithmetic"
    return "comparison" if parent.kind == "comparison_operator" else ""


def _fit(name: Name, node: Node, here: Name | None, shape: str) -> float:
    """How well `name` fits where `node` stands, 0 to 1."""
    alike = similarity(name.text, node.text)
    loop = next((n for n in node.ancestors() if n.kind in LOOPS), None)
    weight = {"parameter": 0.6, "local": 0.6, "loop": 0.6, "outer": 0.3, "module": 0.15}.get(name.origin, 0.1)
    weight += 0.4 * alike
    if loop is not None and name.origin == "local" and loop.row < name.line <= node.line:
        weight *= 1.2
    if here is not None and here.kinds and name.kinds:
        weight *= 1.2 if here.kinds & name.kinds else 0.4
    if shape == "indexed":
        weight *= 1.3 if name.subscripted or name.kinds & {"list", "dict", "str"} else 0.35
    elif shape == "index":
        weight *= 0.3 if name.kinds & {"list", "dict", "set"} else 1.0
    elif shape == "iterated":
        weight *= 1.2 if name.kinds & {"list", "dict", "set", "iter", "str"} else 0.2 if name.kinds else 0.6
    elif shape.startswith("."):
        weight *= 1.3 if shape[1:] in name.attributes else 0.4
    elif shape == "arithmetic":
        weight *= (
            0.3
            if name.kinds & {"dict", "set", "call", "iter"}
            else 1.2
            if name.kinds & {"int", "float"}
            else 1.0
        )
    if "call" in name.kinds and len(name.kinds) == 1 and shape:
        weight *= 0.3
    return min(1.0, weight)


def functions(node: Node, place: Place) -> Iterator[Proposal]:
    """A called function → one it is often mistaken for, or another of the file."""
    parent = node.parent
    if parent is None or parent.kind != "call" or node.field != "function":
        return
    for new in BUILTIN_SWAPS.get(node.text, ()):
        if new in BUILTINS or new in place.names:
            yield put("name.builtin", node, new, 1.0 if new == BUILTIN_SWAPS[node.text][0] else 0.4)
    called = _called(place.syntax)
    stands_for = [n for n in place.names.values() if n.origin == "module" and n.text in called]
    for name in {n.text: n for n in (*place.callables, *stands_for)}.values():
        if name.text != node.text:
            alike = similarity(name.text, node.text)
            weight = (0.15 if name.origin == "import" else 0.3) + 0.7 * alike
            if node.text in BUILTINS and not name.text.endswith(node.text):
                weight *= 0.3  # `describe_repr` for `repr` is another matter
            if weight > 0.1:
                yield put("name.function", node, name.text, min(1.0, weight))


@lru_cache(maxsize=16)
def _called(syntax: Syntax) -> frozenset[str]:
    """Plain names that are called anywhere in the file."""
    functions = (call.get("function") for call in syntax.calls)
    return frozenset(f.text for f in functions if f is not None and f.kind == "identifier")


def members(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `x.a` for an attribute used with `x`, `x` → `self.x` where the class has one."""
    if not is_value(node) or (node.parent is not None and node.parent.kind == "attribute"):
        return
    name = place.names_at(node).get(node.text)
    for attribute in sorted(name.attributes) if name is not None else ():
        yield put("name.attribute", node, f"{node.text}.{attribute}", 0.5)
    if "self" in place.names and f"self.{node.text}" in _self_attributes(place):
        yield put("name.attribute", node, f"self.{node.text}", 1.0)


def _self_attributes(place: Place) -> frozenset[str]:
    """`self.x` texts of the class around."""
    owner = owner_of(place.statement)
    return used(owner) if owner is not None else frozenset()


def simpler(node: Node, place: Place) -> Iterator[Proposal]:
    """`self.x` or a call or a subscript → a variable of the scope."""
    if not is_value(node):
        return
    if node.kind == "attribute":
        attribute, owner = node.get("attribute"), node.get("object")
        if attribute is not None and attribute.text in place.names:
            yield put("name.simpler", node, attribute.text, 1.0)
        if owner is not None and owner.kind == "identifier" and owner.text != "self":
            yield put("name.simpler", node, owner.text, 0.5)
        return
    if node.end - node.start > 60:
        return
    inner = {part.text for part in node.walk() if part.kind == "identifier"}
    for name in place.own_variables:
        if name.text not in inner and not (name.kinds and name.kinds <= {"dict", "set", "call"}):
            beside = node.parent is not None and name.text in node.parent.text
            yield put(
                "name.simpler",
                node,
                name.text,
                _fit(name, node, None, _shape(node)) * (0.4 if beside else 0.8),
            )
    if node.kind == "subscript":
        value = node.get("value")
        if value is not None and value.kind == "identifier":
            yield put("name.simpler", node, value.text, 0.6)


def elsewhere(node: Node, place: Place) -> Iterator[Proposal]:
    """A subscript, attribute or call → another expression of that kind, or of another, from the same function."""
    if node.parent is None or (node.parent.kind == "call" and node.field == "function"):
        return
    target = not is_value(node)
    if target and not (node.field == "left" and node.kind in {"subscript", "attribute"}):
        return
    pool = place.expressions(*((node.kind,) if node.kind != "identifier" else ("subscript", "attribute")))
    for other in pool:
        if other.text == node.text or other.inside(node) or _without_value(other):
            continue
        if node.kind == "identifier" and node.text in other.text and other.kind == "subscript":
            continue
        inside = place.statement.start <= other.start and other.end <= place.statement.end
        weight = 0.25 + 0.5 * similarity(other.text, node.text) + (0.2 if inside else 0.0)
        yield put(
            "name.elsewhere", node, other.text, min(1.0, weight) * (0.5 if node.kind == "identifier" else 1.0)
        )


def _without_value(node: Node) -> bool:
    """A method's name without its call, or a call that stands alone for what it does."""
    parent = node.parent
    if parent is None:
        return False
    return (parent.kind == "call" and node.field == "function") or parent.kind == "expression_statement"


def parts(node: Node, place: Place) -> Iterator[Proposal]:
    """`x` → `x[0]`, `x[-1]`, `x[1:]`, `x[n:]`, `x[:n]`: a part where the whole was taken."""
    if not is_value(node) or (
        node.parent is not None and node.parent.kind in {"attribute", "comparison_operator"}
    ):
        return
    name = place.names_at(node).get(node.text)
    if (
        name is None
        or name.origin in {"definition", "import"}
        or name.kinds & {"int", "float", "bool", "set", "call"}
    ):
        return
    parent = node.parent
    indexed = parent is not None and parent.kind == "subscript"
    known = bool(name.subscripted or name.kinds & {"list", "str", "tuple", "iter"})
    weight = 1.0 if known else 0.3
    if parent is not None and parent.kind in {"for_statement", "for_in_clause"}:
        weight *= 1.2
    if indexed and node.field == "value":
        weight *= 0.2
    recursive = (
        parent is not None
        and parent.kind == "argument_list"
        and parent.parent is not None
        and (
            place.function is not None
            and (own := place.function.get("name"))
            and own.text == called_name(parent.parent)
        )
    )
    for text, factor in (
        ("1:", 1.0),
        (":-1", 0.7),
        ("0", 0.5),
        ("-1", 0.4),
        ("::-1", 0.25),
        ("2:", 0.15),
        ("1", 0.2),
    ):
        slicing = ":" in text
        yield put(
            "name.part",
            node,
            f"{node.text}[{text}]",
            min(1.0, weight * factor * (1.3 if recursive and slicing else 0.8)),
        )
    for other in place.own_variables:
        if other.text == node.text or not other.could_be({"int"}) or other.subscripted or other.attributes:
            continue
        factor = 0.7 if "int" in other.kinds else 0.4
        yield put("name.part", node, f"{node.text}[{other.text}:]", min(1.0, weight * factor))
        yield put("name.part", node, f"{node.text}[:{other.text}]", min(1.0, weight * factor))
        yield put("name.part", node, f"{node.text}[{other.text}]", min(1.0, weight * factor))


def choice(node: Node, place: Place) -> Iterator[Proposal]:
    """`a if c else b` → one side, or the sides exchanged."""
    sides = node.parts
    if len(sides) != 3:
        return
    yield put(
        "name.choice",
        node,
        f"{sides[2].text} if {sides[1].text} else {sides[0].text}",
        0.8,
        PRECEDENCE["conditional_expression"],
    )
    yield put("name.choice", node, sides[0].text, 0.5, precedence(sides[0]))
    yield put("name.choice", node, sides[2].text, 0.5, precedence(sides[2]))


TABLE: Table = {
    "identifier": (variables, functions, members, parts, elsewhere),
    "attribute": (simpler, elsewhere),
    "call": (simpler, elsewhere),
    "subscript": (simpler, elsewhere),
    "conditional_expression": (choice,),
}
