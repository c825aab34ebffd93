"""Names that can be used at a place, how the code uses them, and what kind of thing each seems to be."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import Any

from deskagent.repair.nodes import Node
from deskagent.repair.syntax import FUNCTIONS, Syntax, function_of

BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
_SCOPES = _COMPREHENSIONS | FUNCTIONS
_PATTERNS = frozenset(
    {"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target"}
)
_DEFINITIONS = frozenset({"function_definition", "class_definition"})
NUMBERS = frozenset({"int", "float"})
COLLECTIONS = frozenset({"list", "dict", "set", "tuple", "str", "iter"})

_LITERALS = {
    "integer": "int", "float": "float", "string": "str", "concatenated_string": "str", "true": "bool",
    "false": "bool", "none": "none", "list": "list", "list_comprehension": "list", "dictionary": "dict",
    "dictionary_comprehension": "dict", "set": "set", "set_comprehension": "set", "tuple": "tuple",
    "generator_expression": "iter", "comparison_operator": "bool", "not_operator": "bool", "lambda": "call",
}  # fmt: skip
_CALLS = {
    "len": "int", "int": "int", "ord": "int", "round": "int", "hash": "int", "float": "float", "str": "str",
    "repr": "str", "chr": "str", "list": "list", "sorted": "list", "dict": "dict", "defaultdict": "dict",
    "Counter": "dict", "OrderedDict": "dict", "set": "set", "frozenset": "set", "tuple": "tuple", "bool": "bool",
    "deque": "list", "range": "iter", "iter": "iter", "zip": "iter", "map": "iter", "filter": "iter",
    "enumerate": "iter", "isinstance": "bool", "any": "bool", "all": "bool",
}  # fmt: skip
_METHODS = {  # a call of the method tells what its object is
    "append": "list", "extend": "list", "insert": "list", "popleft": "list", "add": "set", "discard": "set",
    "issuperset": "set", "issubset": "set", "items": "dict", "keys": "dict", "values": "dict", "get": "dict",
    "setdefault": "dict", "startswith": "str", "endswith": "str", "strip": "str", "split": "str", "lower": "str",
    "upper": "str", "join": "str", "format": "str", "replace": "str", "encode": "str",
}  # fmt: skip


@dataclass
class Name:
    """A name in a scope. `reads` counts uses of its value; filling it (`x.append`, `x[i] = …`) is no read."""

    text: str
    origin: str  # parameter, local, loop, outer, module, definition, import, builtin
    line: int = 0
    kinds: set[str] = field(default_factory=set)
    reads: int = 0
    writes: int = 0
    fills: int = 0
    initial: str = ""  # source text of the first value given
    attributes: set[str] = field(default_factory=set)
    called: int = 0
    subscripted: int = 0

    def could_be(self, kinds: set[str]) -> bool:
        """Whether nothing known forbids that it is one of `kinds`."""
        return not self.kinds or not kinds or bool(self.kinds & kinds)


Names = dict[str, Name]


def role(node: Node) -> str:
    """What an identifier does where it stands: read, write, attribute, keyword, definition."""
    parent = node.parent
    if parent is None:
        return "read"
    if parent.kind == "attribute" and node.field == "attribute":
        return "attribute"
    if parent.kind == "keyword_argument" and node.field == "name":
        return "keyword"
    if parent.kind in _DEFINITIONS and node.field == "name":
        return "definition"
    if parent.kind in {"default_parameter", "typed_default_parameter"} and node.field == "name":
        return "write"
    if parent.kind in {"parameters", "lambda_parameters", "typed_parameter"}:
        return "write"
    if parent.kind in {"list_splat_pattern", "dictionary_splat_pattern", "dotted_name", "aliased_import"}:
        return "write"
    if parent.kind in {"global_statement", "nonlocal_statement"}:
        return "definition"
    top = node
    while top.parent is not None and top.parent.kind in _PATTERNS:
        top = top.parent
    holder = top.parent
    if holder is None:
        return "read"
    if top.field == "left" and holder.kind in {"assignment", "for_statement", "for_in_clause"}:
        return "write"
    if holder.kind == "augmented_assignment" and top.field == "left":
        return "update"
    if holder.kind == "named_expression" and top.field == "name":
        return "write"
    if holder.kind in {"as_pattern", "except_clause"} and (
        top.field == "alias" or top.kind == "as_pattern_target"
    ):
        return "write"
    return "read"


class Scopes:
    """The scopes of one file, worked out when asked."""

    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax
        self._cache: dict[int, Names] = {}
        self._seen: dict[Node | None, Names] = {}
        self.memo: dict[Node, dict[str, Any]] = {}  # what operators work out once for a scope
        self._module: Names | None = None

    def visible(self, node: Node) -> Names:
        """Names that can be used at `node`, inner scopes first. Loop names of comprehensions only inside them. Equal
        for all nodes of one scope: not to be changed."""
        scope = next((n for n in (node, *node.ancestors()) if n.kind in _SCOPES), None)
        known = self._seen.get(scope)
        if known is None:
            known = self._seen[scope] = self._visible(node)
        return known

    def _visible(self, node: Node) -> Names:
        found: Names = {}
        for ancestor in (node, *node.ancestors()):
            if ancestor.kind in _COMPREHENSIONS:
                for name in _comprehension_names(ancestor):
                    found.setdefault(name.text, name)
        function = function_of(node)
        first = True
        while function is not None:
            for text, name in self.of(function).items():
                if text not in found:
                    found[text] = name if first else _outer(name)
            first = False
            function = next((n for n in function.ancestors() if n.kind in FUNCTIONS), None)
        for text, name in self.module.items():
            found.setdefault(text, name)
        return found

    def of(self, function: Node) -> Names:
        """Parameters and locals of `function`."""
        known = self._cache.get(function.start)
        if known is None:
            known = self._cache[function.start] = self._collect(function)
        return known

    @property
    def module(self) -> Names:
        if self._module is None:
            self._module = self._collect(self.syntax.root)
        return self._module

    def _collect(self, scope: Node) -> Names:
        names: Names = {}
        uses: list[tuple[Node, str]] = []
        module = scope.kind == "module"
        stack = list(reversed(scope.children))
        while stack:
            node = stack.pop()
            if node.kind in _DEFINITIONS:
                name = node.get("name")
                if name is not None:
                    made = names.setdefault(name.text, Name(name.text, "definition", node.line))
                    made.kinds.add("call")
                if module:
                    continue
                if node.kind == "function_definition":  # reads inside count for this scope too
                    body = node.get("body")
                    stack.extend(reversed(body.children if body else []))
                    continue
            if node.kind == "identifier":
                uses.append((node, role(node)))
            elif node.kind == "type":
                continue
            stack.extend(reversed(node.children))
        parameters = scope.get("parameters")
        for node, what in uses:
            if what in {"write", "update"} and not _in_comprehension(node, scope):
                if parameters is not None and node.inside(parameters):
                    origin = "parameter"
                elif node.parent is not None and node.parent.kind in {"dotted_name", "aliased_import"}:
                    origin = "import"
                else:
                    origin = "module" if module else "local"
                names.setdefault(node.text, Name(node.text, origin, node.line))
        for node, what in uses:
            name = names.get(node.text)
            if name is not None:
                _note_use(name, node, what)
        return names


def _outer(name: Name) -> Name:
    return Name(name.text, "outer", name.line, name.kinds, name.reads, name.writes, name.fills, name.initial,
                name.attributes, name.called, name.subscripted)  # fmt: skip


def _in_comprehension(node: Node, scope: Node) -> bool:
    for ancestor in node.ancestors():
        if ancestor is scope:
            return False
        if ancestor.kind in _COMPREHENSIONS or ancestor.kind == "lambda":
            return True
    return False


def _comprehension_names(comprehension: Node) -> list[Name]:
    found = []
    for clause in comprehension.parts:
        left = clause.get("left") if clause.kind == "for_in_clause" else None
        for node in left.walk() if left is not None else ():
            if node.kind == "identifier":
                found.append(Name(node.text, "loop", node.line))
    return found


def _note_use(name: Name, node: Node, what: str) -> None:
    parent = node.parent
    assert parent is not None
    if what == "write":
        name.writes += 1
        value = parent.get("right") if parent.kind == "assignment" and node.field == "left" else None
        if parent.kind in {"default_parameter", "typed_default_parameter"}:
            value = parent.get("value")
        if value is not None:
            kind = kind_of(value)
            if kind and kind != "none":
                name.kinds.add(kind)
            if not name.initial:
                name.initial = value.text
        elif parent.kind == "for_statement" or (parent.kind == "pattern_list" and parent.field == "left"):
            _loop_kind(name, node, parent)
        return
    if what == "update":
        name.writes += 1
        return
    if what != "read":
        return
    if parent.kind == "attribute" and node.field == "object":
        attribute = parent.get("attribute")
        called = parent.parent is not None and parent.parent.kind == "call" and parent.field == "function"
        if attribute is not None:
            name.attributes.add(attribute.text)
            if called and attribute.text in _METHODS:
                name.kinds.add(_METHODS[attribute.text])
            statement = parent.parent.parent if called and parent.parent is not None else None
            if statement is not None and statement.kind == "expression_statement":
                name.fills += 1
                return
    elif parent.kind == "subscript" and node.field == "value":
        name.subscripted += 1
        holder = parent.parent
        if (
            holder is not None
            and parent.field == "left"
            and holder.kind in {"assignment", "augmented_assignment"}
        ):
            name.fills += 1
            return
    elif parent.kind == "call" and node.field == "function":
        name.called += 1
        name.kinds.add("call")
    elif parent.kind == "for_statement" and node.field == "right":
        name.kinds.add("iter")
    elif parent.kind == "binary_operator":
        other = parent.get("left") if node.field == "right" else parent.get("right")
        operator = parent.get("operator")
        kind = kind_of(other) if other is not None else ""
        if (kind in NUMBERS and operator is not None and operator.text not in {"*", "%"}) or (
            kind in {"str", "list"} and operator is not None and operator.text == "+"
        ):
            name.kinds.add(kind)
    elif parent.kind == "comparison_operator":
        kinds = {kind_of(part) for part in parent.parts if part is not node}
        operator = parent.get("operators")
        if operator is not None and operator.text not in {"in", "not in", "is", "is not"}:
            name.kinds |= kinds & NUMBERS
    name.reads += 1


def _loop_kind(name: Name, node: Node, parent: Node) -> None:
    """`for i in range(…)` and `for i, x in enumerate(…)` count."""
    loop = parent if parent.kind == "for_statement" else parent.parent
    right = loop.get("right") if loop is not None else None
    called = right.get("function") if right is not None and right.kind == "call" else None
    if called is None:
        return
    if (called.text == "range" and node.field == "left") or (
        called.text == "enumerate"
        and parent.kind == "pattern_list"
        and parent.parts
        and parent.parts[0] is node
    ):
        name.kinds.add("int")


def kind_of(node: Node, depth: int = 8) -> str:
    """What an expression's value is by its form alone; "" where that can't be told."""
    if node.kind in _LITERALS:
        return _LITERALS[node.kind]
    if depth == 0:
        return ""
    if node.kind == "parenthesized_expression" and node.parts:
        return kind_of(node.parts[0], depth - 1)
    if node.kind == "call":
        function = node.get("function")
        text = function.text.rpartition(".")[2] if function is not None else ""
        return _CALLS.get(text, "")
    if node.kind == "binary_operator":
        left, right = node.get("left"), node.get("right")
        kinds = {kind_of(side, depth - 1) for side in (left, right) if side is not None}
        return next((kind for kind in ("list", "str", "float", "int") if kind in kinds), "")
    if node.kind == "unary_operator":
        argument = node.get("argument")
        return kind_of(argument, depth - 1) if argument is not None else ""
    return ""
