"""What an operator gets and what it gives back, and how new text is fitted into an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from deskagent.repair.hints import Hints
from deskagent.repair.nodes import Node
from deskagent.repair.scope import BUILTINS, Name, Names, Scopes, kind_of, role
from deskagent.repair.syntax import LOOPS, Syntax, function_of, own_nodes


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit that an operator proposes: (start, end, new text) each. `weight` in (0, 1] compares it with the
    other proposals of the same operator."""

    operator: str
    weight: float
    edits: tuple[tuple[int, int, str], ...]
    note: str


MAX_NODES, MAX_SCOPE, MAX_POOL = 600, 20_000, 80
"""What is looked at of a statement, of the scope around it, and of one kind of expression in it."""

Operator = Callable[[Node, "Place"], Iterator[Proposal]]
Table = Mapping[str, Sequence[Operator]]
"""Node kind → the operators that know it."""


@dataclass(eq=False)
class Place:
    """A statement to be edited, with what can be seen from it. `attributes` are attribute names used in related
    files (the project's own that the failing tests run); `memo` keeps what more than one operator
    works out."""

    syntax: Syntax
    scopes: Scopes
    statement: Node
    hints: Hints = field(default_factory=Hints)
    attributes: frozenset[str] = frozenset()
    memo: dict[str, object] = field(default_factory=dict)

    @cached_property
    def function(self) -> Node | None:
        return function_of(self.statement)

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes of the statement's own text; of a huge one, those that the failing tests show come first."""
        found = list(own_nodes(self.statement))
        if len(found) > MAX_NODES:
            shown = self.hints.literals | self.hints.message
            found.sort(key=lambda node: node.end - node.start > 60 or node.text.strip("'\"") not in shown)
        return found[:MAX_NODES]

    @cached_property
    def in_loop(self) -> Node | None:
        """The loop of the same function that the statement stands in."""
        for node in self.statement.ancestors():
            if node.kind in LOOPS:
                return node
            if node is self.function:
                break
        return None

    @cached_property
    def names(self) -> Names:
        return self.scopes.visible(self.statement)

    def names_at(self, node: Node) -> Names:
        """As `names`, with the loop names of comprehensions around `node`."""
        return self.scopes.visible(node) if any("compreh" in n.kind or n.kind == "generator_expression"
                                                for n in node.ancestors()) else self.names  # fmt: skip

    def variables(self, node: Node | None = None) -> list[Name]:
        """Names that hold values here: no functions, classes, modules; already given a value by then."""
        names = self.names if node is None else self.names_at(node)
        line = self.statement.line
        loop = self.in_loop
        return [
            name
            for name in names.values()
            if name.origin in {"parameter", "local", "loop", "outer", "module"}
            and name.text not in {"self", "cls", "_"}
            and (name.origin != "local" or name.line < line or (loop is not None and name.line > loop.row))
            and not (name.origin == "module" and self.function is not None and name.called and not name.reads)
        ]

    @cached_property
    def own_variables(self) -> list[Name]:
        """Parameters and locals of the function, the names most often meant."""
        return [name for name in self.variables() if name.origin in {"parameter", "local", "loop", "outer"}]

    @cached_property
    def callables(self) -> list[Name]:
        """Functions, classes and imports of the file."""
        return [
            n
            for n in self.names.values()
            if n.origin in {"definition", "import"} or (n.called and not n.writes)
        ]

    @cached_property
    def scope(self) -> Node:
        """The function around, or the module's own statement."""
        return self.function or self.syntax.top_level(self.statement.start) or self.statement

    @property
    def shared(self) -> dict[str, Any]:
        """As `memo`, for all places of the same `scope`."""
        return self.scopes.memo.setdefault(self.scope, {})

    @property
    def scope_nodes(self) -> list[Node]:
        """All nodes of the scope."""
        if "nodes" not in self.shared:
            self.shared["nodes"] = list(islice(self.scope.walk(), MAX_SCOPE))
        return self.shared["nodes"]

    @property
    def by_kind(self) -> dict[str, list[Node]]:
        """Node kind → distinct short ones of it in the scope, in source order."""
        if "by_kind" not in self.shared:
            self.shared["by_kind"] = self._by_kind()
        return self.shared["by_kind"]

    def _by_kind(self) -> dict[str, list[Node]]:
        found: dict[str, dict[str, Node]] = {}
        for node in self.scope_nodes:
            if node.named and node.end - node.start <= 60:
                pool = found.setdefault(node.kind, {})
                if len(pool) < MAX_POOL:
                    pool.setdefault(node.text, node)
        return {kind: list(pool.values()) for kind, pool in found.items()}

    def expressions(self, *kinds: str) -> list[Node]:
        """Distinct expressions of `kinds` in the function, short ones only."""
        return [node for kind in kinds for node in self.by_kind.get(kind, ())]

    def kind(self, node: Node) -> str:
        """What `node`'s value seems to be, "" if that can't be told."""
        if node.kind == "identifier":
            known = self.names_at(node).get(node.text)
            return next(iter(known.kinds)) if known is not None and len(known.kinds) == 1 else ""
        return kind_of(node)

    def numeric(self, node: Node) -> bool:
        """Whether `node` may well be a number: known to be one, or used as one."""
        kind = self.kind(node)
        if kind:
            return kind in {"int", "float"}
        parent = node.parent
        if parent is None:
            return False
        if parent.kind == "binary_operator" and any(
            self.kind(p) in {"int", "float"} for p in parent.parts if p is not node
        ):
            return True
        if parent.kind == "subscript" and node.field == "subscript":
            return True
        if parent.kind == "slice":
            return True
        return (
            parent.kind == "argument_list"
            and parent.parent is not None
            and called_name(parent.parent) == "range"
        )


# How tightly an expression binds, loosest first; the grammar of Python's reference.
PRECEDENCE = {
    "lambda": 0, "conditional_expression": 0, "named_expression": 0, "yield": 0, "expression_list": 0,
    "or": 1, "and": 2, "not_operator": 3, "comparison_operator": 4, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "@": 10, "unary_operator": 11, "**": 12, "await": 13,
}  # fmt: skip
ATOM = 14


def precedence(node: Node) -> int:
    """How tightly `node` binds."""
    if node.kind in {"binary_operator", "boolean_operator"}:
        operator = node.get("operator")
        return PRECEDENCE.get(operator.text, ATOM) if operator is not None else ATOM
    return PRECEDENCE.get(node.kind, ATOM)


def required(node: Node) -> int:
    """How tightly what stands in `node`'s place has to bind not to need parentheses."""
    parent = node.parent
    if parent is None:
        return 0
    if parent.kind == "binary_operator":
        level = precedence(parent)
        tight = (node.field == "right") != (level == PRECEDENCE["**"])
        return level + 1 if tight else level
    if parent.kind == "boolean_operator":
        return precedence(parent) + (node.field == "right")
    if parent.kind == "comparison_operator":
        return PRECEDENCE["|"]
    if parent.kind in {"not_operator", "unary_operator", "await"}:
        return precedence(parent)
    if parent.kind == "attribute" or (
        parent.kind in {"call", "subscript"} and node.field in {"function", "value"}
    ):
        return ATOM
    if parent.kind in {"list_splat", "dictionary_splat"}:
        return PRECEDENCE["|"]
    if parent.kind in {"conditional_expression", "if_clause"} or (
        parent.kind == "for_in_clause" and node.field == "right"
    ):
        return PRECEDENCE["or"]
    return 0


@lru_cache(maxsize=20_000)
def shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:57] + "…"


def put(operator: str, node: Node, new: str, weight: float, level: int = ATOM) -> Proposal:
    """Replaces `node` by the expression `new`, which binds at `level`, in parentheses where needed."""
    text = f"({new})" if level < required(node) else new
    return Proposal(
        operator, weight, ((node.start, node.end, text),), f"{shorten(node.text)} → {shorten(text)}"
    )


def replace(operator: str, start: Node, end: Node, new: str, weight: float) -> Proposal:
    """Replaces the text from `start` to `end`, both included."""
    source = start.syntax.source.utf8
    old = source[start.start : end.end].decode("utf-8", "replace")
    note = f"{shorten(old)} → {shorten(new)}" if new else f"drop {shorten(old)}"
    return Proposal(operator, weight, ((start.start, end.end, new),), note)


def exchange(operator: str, one: Node, two: Node, weight: float) -> Proposal:
    """Swaps the text of two nodes."""
    edits = ((one.start, one.end, two.text), (two.start, two.end, one.text))
    return Proposal(operator, weight, edits, f"swap {shorten(one.text)} and {shorten(two.text)}")


def wrapped(node: Node, level: int) -> str:
    """`node`'s text as an operand that has to bind at least at `level`."""
    return f"({node.text})" if precedence(node) < level else node.text


def called_name(call: Node) -> str:
    """The plain name that a call calls: `f` of f(x), `append` of a.append(x)."""
    function = call.get("function")
    if function is None:
        return ""
    if function.kind == "attribute":
        attribute = function.get("attribute")
        return attribute.text if attribute is not None else ""
    return function.text if function.kind == "identifier" else ""


def arguments(call: Node) -> list[Node]:
    """The arguments of a call, keyword ones included."""
    given = call.get("arguments")
    return given.parts if given is not None and given.kind == "argument_list" else []


def handed(call: Node, text: str) -> tuple[int, int, str]:
    """The edit by which `text` is handed to a call after all that it is handed."""
    given, bracket = arguments(call), call.get("arguments")
    if given:
        return given[-1].end, given[-1].end, f", {text}"
    at = bracket.start + 1 if bracket is not None else call.end
    return at, at, text


def is_value(node: Node) -> bool:
    """Whether `node` is an expression whose value is used, not a target, a called function or part of a name."""
    parent = node.parent
    if parent is None or not node.named:
        return False
    if node.kind == "identifier" and role(node) != "read":
        return False
    if parent.kind == "call" and node.field == "function":
        return False
    if parent.kind == "keyword_argument" and node.field == "name":
        return False
    if node.field == "left" and parent.kind in {
        "assignment",
        "augmented_assignment",
        "for_statement",
        "for_in_clause",
    }:
        return False
    return parent.kind not in {"pattern_list", "tuple_pattern", "list_pattern", "as_pattern_target", "delete_statement",
                               "string", "interpolation", "format_specifier"}  # fmt: skip


@lru_cache(maxsize=200_000)
def similarity(one: str, two: str) -> float:
    """How alike two names are, 0 to 1: shared words and shared letters."""
    if one == two:
        return 1.0
    words_one, pairs_one = _features(one)
    words_two, pairs_two = _features(two)
    shared = len(words_one & words_two)
    words = shared / max(1, len(words_one) + len(words_two) - shared)
    letters = 2 * len(pairs_one & pairs_two) / (len(pairs_one) + len(pairs_two))
    short = 0.5 if len(one) <= 2 and len(two) <= 2 else 0.0  # i and j, a and b
    return max(words, letters, short)


@lru_cache(maxsize=20_000)
def _features(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """A name's words, and its pairs of letters."""
    pairs = frozenset(text[i : i + 2] for i in range(len(text) - 1)) or frozenset({text})
    return frozenset(text.lower().split("_")) - {""}, pairs


__all__ = [
    "ATOM",
    "BUILTINS",
    "MAX_SCOPE",
    "PRECEDENCE",
    "Operator",
    "Place",
    "Proposal",
    "Table",
    "arguments",
    "called_name",
    "exchange",
    "is_value",
    "kind_of",
    "precedence",
    "put",
    "replace",
    "required",
    "shorten",
    "similarity",
    "wrapped",
]  # fmt: skip
