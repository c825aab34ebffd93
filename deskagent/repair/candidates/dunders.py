"""A method that the language looks for and a class lacks: `__hash__` beside `__eq__`, `__len__`, `__iter__`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.candidates.blocks import below
from deskagent.repair.candidates.known import first_values, functions_in, owner_of, used
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block

# what Python says of an object that can't → the method it looked for; the class is named first
SAYS = (
    (re.compile(r"unhashable type: '(\w+)'"), "__hash__"),
    (re.compile(r"object of type '(\w+)' has no len\(\)"), "__len__"),
    (re.compile(r"'(\w+)' object is not iterable"), "__iter__"),
    (re.compile(r"argument of type '(\w+)' is not (?:iterable|a container)"), "__contains__"),
    (re.compile(r"'(\w+)' object is not subscriptable"), "__getitem__"),
    (re.compile(r"'(\w+)' object is not callable"), "__call__"),
    (re.compile(r"'(\w+)' object does not support item assignment"), "__setitem__"),
    (re.compile(r"'(\w+)' object doesn't support item deletion"), "__delitem__"),
    (re.compile(r"'(\w+)' object (?:does not support the (?:asynchronous )?context manager|has no attribute "
                r"'__enter__')"), "__enter__"),
    (re.compile(r"'<' not supported between instances of '(\w+)'"), "__lt__"),
    (re.compile(r"'>' not supported between instances of '(\w+)'"), "__gt__"),
    (re.compile(r"'<=' not supported between instances of '(\w+)'"), "__le__"),
    (re.compile(r"'>=' not supported between instances of '(\w+)'"), "__ge__"),
    (re.compile(r"unsupported operand type\(s\) for \+: '(\w+)'"), "__add__"),
    (re.compile(r"unsupported operand type\(s\) for -: '(\w+)'"), "__sub__"),
    (re.compile(r"<(?:\w+\.)*(\w+) object at 0x"), "__repr__"),
)  # fmt: skip
_HELD = {"__len__": "len({0})", "__iter__": "iter({0})", "__contains__": "item in {0}", "__getitem__": "{0}[key]",
         "__bool__": "bool({0})"}  # fmt: skip
_TAKES = {"__contains__": "self, item", "__getitem__": "self, key"}
_COMPARES = {"__lt__": "<", "__gt__": ">", "__le__": "<=", "__ge__": ">="}


def wanted(errors: str, title: str) -> list[str]:
    """The methods that errors say the class `title` lacks."""
    return [method for pattern, method in SAYS if title in pattern.findall(errors)]


def add(node: Node, place: Place) -> Iterator[Proposal]:
    """The method after its nearest like, as the class's own methods and attributes make it."""
    owner = node if node.kind == "class_definition" else owner_of(node)
    name = owner.get("name") if owner is not None else None
    if owner is None or name is None:
        return
    errors = "\n".join(place.hints.examples.errors)
    shown = f"{errors}\n{sorted(place.hints.literals)}"
    asked = wanted(errors, name.text) + (["__repr__"] if f"{name.text} object at 0x" in shown else [])
    methods = {n.text: f for f in functions_in(owner) if (n := f.get("name")) is not None}
    if node.kind == "class_definition" and "__eq__" in methods:
        asked += ["__ne__"] if "__hash__" in methods else ["__hash__", "__ne__"]
    for index, method in enumerate(dict.fromkeys(asked)):
        if method in methods:
            continue
        for number, (takes, body) in enumerate(_bodies(method, methods, owner, name.text)):
            weight = 0.85**number * (1.0 if method in wanted(errors, name.text) else 0.3 * 0.9**index)
            yield from _put(method, takes, body, methods, owner, weight)


def _put(
    method: str, takes: str, body: str, methods: dict[str, Node], owner: Node, weight: float
) -> Iterator[Proposal]:
    near = {"__hash__": "__eq__", "__ne__": "__eq__", "__gt__": "__lt__", "__le__": "__lt__"}.get(method, "")
    held = block(owner)
    last = methods.get(near) or (held.parts[-1] if held is not None and held.parts else None)
    if last is None or not owner.syntax.starts_line(last) or last.row == owner.row:
        return
    syntax = owner.syntax
    at = below(last)
    indent, unit = syntax.indent(last), syntax.unit
    blank = "\n" if last.kind in {"function_definition", "decorated_definition"} else ""
    lines = f"\n{blank}{indent}def {method}({takes}):\n{indent}{unit}{body}"
    yield Proposal("member.dunder", weight, ((at, at, lines),), f"add {method}: {body}")


def _bodies(method: str, methods: dict[str, Node], owner: Node, title: str) -> Iterator[tuple[str, str]]:
    """(parameters, the method's one statement), the likeliest first."""
    equal = methods.get("__eq__")
    if method == "__hash__" and equal is not None:
        yield from (("self", f"return hash({key})") for key in _keys(equal))
    elif method == "__ne__":
        yield "self, other", "return not self == other"
        yield "self, other", "return not self.__eq__(other)"
    elif method in _COMPARES:
        pairs = [key for name in ("__eq__", "__lt__", "__le__", "__gt__") for key in _keys(methods.get(name))]
        for key in dict.fromkeys(pairs):
            yield "self, other", f"return {key} {_COMPARES[method]} {key.replace('self', 'other')}"
    elif method == "__repr__":
        maker = methods.get("__init__")
        signature = maker.get("parameters") if maker is not None else None
        names = [n.text for p in (signature.parts[1:] if signature else ()) for n in [*p.walk()][:2]
                 if n.kind == "identifier"]  # fmt: skip
        names = [n for n in dict.fromkeys(names) if f"self.{n}" in used(owner)]
        yield "self", f'return f"{title}({", ".join(f"{{self.{n}!r}}" for n in names)})"'
        yield "self", f'return f"{title}({", ".join(f"{n}={{self.{n}!r}}" for n in names)})"'
    elif method == "__iter__" and "__next__" in methods:
        yield "self", "return self"
    elif method in _HELD:
        first = first_values(owner)
        filled = [
            a for a in used(owner) if first.get(a) in {"[]", "{}", "set()", "dict()", "list()", "deque()"}
        ]
        kept = [a for a in sorted(used(owner)) if a[5:].strip("_") not in methods and a not in filled]
        for attribute in [*sorted(filled), *kept][:4]:
            yield _TAKES.get(method, "self"), f"return {_HELD[method].format(attribute)}"


def _keys(method: Node | None) -> list[str]:
    """What a comparing method looks at, of `self`: `self._key()`, `self.x`, all of them as a tuple."""
    if method is None:
        return []
    found: dict[str, None] = {}
    for node in method.walk():
        if node.kind == "comparison_operator" and len(node.parts) == 2:
            left, right = (part.text for part in node.parts)
            if left.startswith(("self.", "(self.")) and left.replace("self", "other") == right:
                found[left] = None
    keys = list(found)
    return [*([f"({', '.join(keys)})"] if len(keys) > 1 else []), *keys]


TABLE: Table = {"statement": (add,)}
