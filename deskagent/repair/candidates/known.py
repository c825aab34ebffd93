"""What a file's classes and functions offer: methods with what they need and set, attributes with their first
values. All by the text alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from deskagent.repair.candidates.base import Place, similarity
from deskagent.repair.nodes import Node
from deskagent.repair.scope import role
from deskagent.repair.syntax import FUNCTIONS, Syntax, function_of

EMPTY = frozenset({"{}", "[]", "set()", "dict()", "list()", "deque()"})
_PLAIN = frozenset({"none", "true", "false", "integer", "float", "string", "unary_operator"})
_MUTATORS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "remove",
        "discard",
        "add",
        "pop",
        "popleft",
        "appendleft",
        "clear",
        "update",
    ]
)


@dataclass(frozen=True)
class Callee:
    """A function or method of the file. `call` is what its calls begin with, `needs` the parameters without a
    default, `sets` the attributes of `self` that it gives a value or fills, `gives` whether it returns
    something."""

    call: str
    name: str
    node: Node
    needs: tuple[str, ...]
    sets: frozenset[str]
    gives: bool


def owner_of(node: Node) -> Node | None:
    """The class around."""
    return next((n for n in node.ancestors() if n.kind == "class_definition"), None)


def functions_in(owner: Node) -> list[Node]:
    """The functions that stand in a class, without their decorators."""
    body = owner.get("body")
    return _functions(body.parts if body is not None else ())


def _functions(parts: Iterable[Node]) -> list[Node]:
    inner = [part.get("definition") if part.kind == "decorated_definition" else part for part in parts]
    return [part for part in inner if part is not None and part.kind in FUNCTIONS]


def decorators(function: Node) -> list[str]:
    """The texts of a function's decorators, the outermost first."""
    holder = function.parent
    if holder is None or holder.kind != "decorated_definition":
        return []
    return [child.text for child in holder.children if child.kind == "decorator"]


@lru_cache(maxsize=512)
def methods(owner: Node) -> tuple[Callee, ...]:
    """The methods of a class, those between two underlines left out."""
    found = []
    for function in functions_in(owner):
        held = set(decorators(function))
        if held & {"@property", "@cached_property", "@functools.cached_property"} or any(
            ".setter" in text for text in held
        ):
            continue
        made = _callee(function, "" if "@staticmethod" in held else "self.", bound=True)
        if made is not None and not made.name.startswith("__"):
            found.append(made)
    return tuple(found)


@lru_cache(maxsize=512)
def functions(syntax: Syntax) -> tuple[Callee, ...]:
    """The module's own functions."""
    found = []
    for function in _functions(syntax.root.parts):
        made = _callee(function, "", bound=False)
        if made is not None:
            found.append(made)
    return tuple(found)


def _callee(function: Node, prefix: str, *, bound: bool) -> Callee | None:
    name, parameters, body = function.get("name"), function.get("parameters"), function.get("body")
    if name is None or parameters is None or body is None:
        return None
    needs = []
    for part in parameters.parts:
        if part.kind in {"keyword_separator", "list_splat_pattern", "dictionary_splat_pattern"}:
            break
        inner = (
            part if part.kind == "identifier" else part.parts[0] if part.kind == "typed_parameter" else None
        )
        if inner is not None and inner.kind == "identifier":
            needs.append(inner.text)
    if bound and prefix:
        needs = needs[1:]
    own = [node for node in body.walk() if function_of(node) is function]
    gives = any((n.kind == "return_statement" and n.parts) or (n.kind == "yield" and n.named) for n in own)
    return Callee(prefix + name.text, name.text, function, tuple(needs), frozenset(changed(body)), gives)


def changed(node: Node) -> Iterator[str]:
    """`self.x` texts that get a value, are filled or emptied below `node`."""
    for part in node.walk():
        if part.kind in {"assignment", "augmented_assignment"}:
            left = part.get("left")
            while left is not None and left.kind == "subscript":
                left = left.get("value")
            if left is not None and left.kind == "attribute" and left.text.startswith("self."):
                yield left.text
        elif part.kind == "attribute" and part.field == "function":
            owner, method = part.get("object"), part.get("attribute")
            if owner is None or method is None:
                continue
            if method.text in _MUTATORS and owner.text.startswith("self."):
                yield owner.text


@lru_cache(maxsize=512)
def used(node: Node) -> frozenset[str]:
    """`self.x` texts below `node`."""
    return frozenset(n.text for n in node.walk() if n.kind == "attribute" and n.text.startswith("self."))


@lru_cache(maxsize=512)
def first_values(owner: Node) -> dict[str, str]:
    """`self.x` → the plain value or empty collection that __init__ gives it."""
    body = owner.get("body")
    start = next(
        (
            p
            for p in (body.parts if body is not None else ())
            if p.kind in FUNCTIONS and "__init__" in p.text[:14]
        ),
        None,
    )
    found: dict[str, str] = {}
    for node in start.walk() if start is not None else ():
        if node.kind != "assignment":
            continue
        left, right = node.get("left"), node.get("right")
        if left is None or right is None or not left.text.startswith("self.") or left.kind != "attribute":
            continue
        if right.kind in _PLAIN or right.text in EMPTY:
            found.setdefault(left.text, right.text)
    return found


@lru_cache(maxsize=20_000)
def free_names(node: Node) -> frozenset[str]:
    """Names that the code of `node` reads."""
    return frozenset(n.text for n in node.walk() if n.kind == "identifier" and role(n) in {"read", "update"})


@lru_cache(maxsize=32)
def _calls(syntax: Syntax) -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for call in syntax.calls:
        if (function := call.get("function")) is not None:
            found.setdefault(function.text.rpartition(".")[2], []).append(call)
    return found


def calls_of(syntax: Syntax, name: str) -> Sequence[Node]:
    """The file's calls of this function or method."""
    return _calls(syntax).get(name, ())


def argument_texts(callee: Callee, place: Place) -> list[tuple[str, float]]:
    """What `callee` might be given here: (arguments, fit), the likeliest first: as elsewhere, by name, by
    likeness."""
    found: dict[str, float] = {}
    names = place.names
    for call in calls_of(place.syntax, callee.name)[:20]:
        given = call.get("arguments")
        if given is not None and given.end - given.start < 60 and free_names(given) <= names.keys():
            found.setdefault(given.text[1:-1], 0.9 if "\n" not in given.text else 0.0)
    if not callee.needs:
        found.setdefault("", 1.0)
    elif len(callee.needs) <= 3:
        own = place.own_variables
        fits: list[list[tuple[str, float]]] = []
        for need in callee.needs:
            ways = [(n.text, 0.3 + 0.7 * similarity(n.text, need)) for n in own]
            if "self" in names and (owner := owner_of(place.statement)) is not None:
                ways += [(a, 0.8 * similarity(a[5:].strip("_"), need)) for a in used(owner)]
            fits.append(sorted(ways, key=lambda way: -way[1])[:2])
        for choice in product(*fits):
            texts = [text for text, _ in choice]
            if len(set(texts)) == len(texts):
                found.setdefault(", ".join(texts), min((fit for _, fit in choice), default=1.0))
    return sorted(((t, f) for t, f in found.items() if f > 0.2), key=lambda way: -way[1])[:4]
