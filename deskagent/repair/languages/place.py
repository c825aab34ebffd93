"""A statement to be edited, the names that can be used there and how the code uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from deskagent.repair.candidates.base import Proposal
from deskagent.repair.hints import Hints
from deskagent.repair.languages.grammar import Grammar
from deskagent.repair.languages.tree import Tree
from deskagent.repair.nodes import Node
from deskagent.repair.scope import Name, Names

Operator = Callable[[Node, "Place"], Iterator[Proposal]]
_FLAT = 60  # bytes; longer expressions are nobody's ingredient


@dataclass
class Place:
    """A statement with what can be seen from it."""

    tree: Tree
    statement: Node
    hints: Hints = field(default_factory=Hints)

    @property
    def grammar(self) -> Grammar:
        return self.tree.grammar

    @cached_property
    def function(self) -> Node | None:
        return self.tree.function_of(self.statement)

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes of the statement's own text."""
        return list(self.tree.own_nodes(self.statement))

    @cached_property
    def in_loop(self) -> Node | None:
        """The loop of the same function that the statement stands in."""
        for node in self.statement.ancestors():
            if node.kind in self.grammar.loops:
                return node
            if node is self.function:
                break
        return None

    @cached_property
    def names(self) -> Names:
        """Every name that can be used at the statement, with how the code around uses it."""
        return visible(self.tree, self.statement)

    @cached_property
    def variables(self) -> list[Name]:
        """Names that hold values here and have one by now."""
        return [
            n
            for n in self.names.values()
            if n.origin in {"parameter", "local", "outer", "module"} and n.text != "_"
        ]

    @cached_property
    def own_variables(self) -> list[Name]:
        """Parameters and locals, the names most often meant."""
        return [n for n in self.variables if n.origin in {"parameter", "local"}]

    @cached_property
    def scope_nodes(self) -> list[Node]:
        """All nodes of the outermost function around, or of the statement at the top of the file."""
        chain = [self.statement, *self.statement.ancestors()]
        top = next((n for n in reversed(chain) if n.kind in self.tree.functions), None)
        return list((top or chain[-2] if len(chain) > 1 else chain[-1]).walk())

    def kinds(self, node: Node) -> set[str]:
        """What the value of `node` may be, empty where nothing is known."""
        if node.kind in {"identifier", "shorthand_property_identifier"}:
            known = self.names.get(node.text)
            return known.kinds if known is not None else set()
        kind = self.grammar.literals.get(node.kind, "")
        return {kind} if kind else set()


def visible(tree: Tree, node: Node) -> Names:
    """The names that can be used at `node`: those declared in what is around it, before it or at the top level."""
    found: Names = {}
    function = tree.function_of(node)
    around = {id(n) for n in node.ancestors()} | {id(node)}
    for declared, holder in declarations(tree):
        name = declared.text
        if id(holder) not in around or name in found:
            continue
        home = tree.function_of(holder)
        top = holder.parent is None
        callable_ = _defines_function(declared)
        if declared.start > node.end and not (top or callable_):
            continue
        if (
            node.start <= declared.start < node.end
            and not callable_
            and holder.kind not in tree.functions
            and home is function
        ) and not _header_of(node, declared, tree):
            continue
        origin = (
            "definition"
            if callable_
            else "module"
            if top
            else "parameter"
            if holder.kind in tree.functions
            else "local"
        )
        if home is not function and not top:
            origin = "definition" if callable_ else "outer"
        kinds, initial = _kinds(tree, declared)
        found[name] = Name(name, origin, declared.line, kinds, initial=initial)
    _count(tree, function, found)
    return found


def _header_of(node: Node, declared: Node, tree: Tree) -> bool:
    """Whether `declared` gets its value in the header of the loop or branch that `node` is."""
    return node.kind in tree.grammar.loops or (node.kind == "if_statement" and declared.parent is not node)


def declarations(tree: Tree) -> list[tuple[Node, Node]]:
    """(identifier, what it can be seen in) of every name that the file declares; inner ones come first."""
    known = tree.__dict__.get("_declared")
    if known is not None:
        return known
    found = []
    grammar = tree.grammar
    for node in tree.root.walk():
        if node.kind not in {"identifier", "shorthand_property_identifier_pattern", "type_identifier"}:
            continue
        if not declares(node, grammar):
            continue
        found.append((node, _holder(node, tree)))
    found.sort(key=lambda pair: -_depth(pair[1]))
    tree.__dict__["_declared"] = found
    return found


def declares(node: Node, grammar: Grammar) -> bool:
    below = node
    for above in node.ancestors():
        if (above.kind, below.field or "") in grammar.declares:
            return True
        if above.kind not in PATTERNS:
            return False
        if above.kind in {
            "pair_pattern",
            "assignment_pattern",
            "object_assignment_pattern",
        } and below.field in {"key", "right"}:
            return False
        below = above
    return False


PATTERNS = frozenset(
    [
        "array_pattern",
        "object_pattern",
        "rest_pattern",
        "pair_pattern",
        "assignment_pattern",
        "object_assignment_pattern",
        "expression_list",
        "formal_parameters",
        "required_parameter",
        "optional_parameter",
        "parameter_list",
    ]
)


def _holder(node: Node, tree: Tree) -> Node:
    """The node inside of which the name declared by `node` can be seen."""
    defines = _defines_function(node)
    for above in node.ancestors():
        if defines and above is node.parent:
            continue  # a function's own name belongs to what is around it
        if above.parent is None or above.kind in tree.functions or above.kind in tree.grammar.blocks:
            return above
        if (
            above.kind in tree.grammar.compound
            and tree.is_statement(above)
            and above.kind not in {"export_statement", "class_declaration"}
        ):
            return above
    return tree.root


def _depth(node: Node) -> int:
    return sum(1 for _ in node.ancestors())


def _defines_function(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if node.field == "name" and parent.kind in {
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "method_declaration",
        "type_spec",
    }:
        return True
    value = parent.get("value")
    if value is not None and value.kind in {"arrow_function", "function_expression"}:
        return True
    return parent.kind in {"import_clause", "import_specifier", "namespace_import"}


def _kinds(tree: Tree, declared: Node) -> tuple[set[str], str]:
    """What a name holds, by its type or its first value; and the source text of that."""
    parent = declared.parent
    if parent is None:
        return set(), ""
    literals = tree.grammar.literals
    typed = parent.get("type")
    kinds = {typed.text.lstrip(": ")} if typed is not None else set()
    value = parent.get("value")
    if value is None and parent.kind == "expression_list" and parent.parent is not None:
        right = parent.parent.get("right")
        values = right.parts if right is not None and right.kind == "expression_list" else []
        index = next((i for i, part in enumerate(parent.parts) if part is declared), 0)
        value = values[index] if index < len(values) and len(values) == len(parent.parts) else None
    if value is not None and value.kind == "expression_list" and len(value.parts) == 1:
        value = value.parts[0]
    if value is None:
        return kinds, ""
    kind = literals.get(value.kind, "")
    if value.kind == "call_expression" and value.text.startswith(("len(", "cap(")):
        kind = "int"
    return (kinds or ({kind} if kind else set())), value.text[:_FLAT]


def _count(tree: Tree, function: Node | None, names: Names) -> None:
    """Adds up how often the function around (or the file) reads, writes and calls each name."""
    for node in (function or tree.root).walk():
        name = names.get(node.text) if node.kind in {"identifier", "shorthand_property_identifier"} else None
        parent = node.parent
        if name is None or parent is None or declares(node, tree.grammar):
            continue
        if is_written(node, tree.grammar):
            name.writes += 1
        else:
            name.reads += 1
        if parent.kind == "call_expression" and node.field == "function":
            name.called += 1


def is_written(node: Node, grammar: Grammar) -> bool:
    """Whether an identifier gets a value where it stands."""
    parent = node.parent
    if parent is None:
        return False
    if (parent.kind, node.field or "") in grammar.writes:
        return True
    return (
        parent.kind == "expression_list"
        and parent.parent is not None
        and (parent.parent.kind, parent.field or "") in grammar.writes
    )
