"""How new text is fitted into an expression, in languages with infix operators and parentheses."""

from __future__ import annotations

from deskagent.repair.candidates.base import Proposal, shorten
from deskagent.repair.languages.grammar import Grammar
from deskagent.repair.languages.place import Place, declares, is_written
from deskagent.repair.nodes import Node

ATOM = 90


def operator_of(node: Node) -> Node | None:
    """The token of a binary or unary expression or an augmented assignment."""
    return node.get("operator")


def level(node: Node, grammar: Grammar) -> int:
    """How tightly `node` binds."""
    if node.kind == "binary_expression":
        token = operator_of(node)
        return grammar.precedence.get(token.text, ATOM) if token is not None else ATOM
    return grammar.precedence.get(node.kind, ATOM)


def required(node: Node, grammar: Grammar) -> int:
    """How tightly what stands in `node`'s place has to bind not to need parentheses."""
    parent = node.parent
    if parent is None:
        return 0
    if parent.kind == "binary_expression":
        token = operator_of(parent)
        right = (node.field == "right") != (token is not None and token.text == "**")
        return level(parent, grammar) + right
    if parent.kind in {"unary_expression", "await_expression", "update_expression", "spread_element"}:
        return grammar.precedence.get(parent.kind, 0)
    if parent.kind == "ternary_expression":
        return grammar.precedence["ternary_expression"] + 1 if node.field == "condition" else 0
    if node.field in {"object", "operand", "function", "constructor"}:
        return ATOM
    return 0


def put(operator: str, node: Node, new: str, weight: float, place: Place, binds: int = ATOM) -> Proposal:
    """Replaces `node` by the expression `new`, which binds at `binds`, in parentheses where needed."""
    text = f"({new})" if binds < required(node, place.grammar) else new
    return Proposal(
        operator, weight, ((node.start, node.end, text),), f"{shorten(node.text)} → {shorten(text)}"
    )


def wrapped(node: Node, binds: int, grammar: Grammar) -> str:
    """`node`'s text as an operand that has to bind at least at `binds`."""
    return f"({node.text})" if level(node, grammar) < binds else node.text


def bare(node: Node) -> Node:
    """`node` without the parentheses around it."""
    while node.kind == "parenthesized_expression" and node.parts:
        node = node.parts[0]
    return node


def cut(operator: str, start: int, end: int, old: str, weight: float) -> Proposal:
    """Takes out the bytes from `start` to `end`."""
    return Proposal(operator, weight, ((start, end, ""),), f"drop {shorten(old)}")


def is_value(node: Node, place: Place) -> bool:
    """Whether `node` is an expression whose value is used: no target, called function, key, name or type."""
    parent = node.parent
    if parent is None or not node.named or node.kind in place.grammar.skipped:
        return False
    if node.field in {
        "left",
        "name",
        "key",
        "property",
        "field",
        "function",
        "constructor",
        "type",
        "label",
        "parameter",
    } and not (parent.kind == "binary_expression" and node.field == "left"):
        return False
    if node.kind == "identifier" and (declares(node, place.grammar) or is_written(node, place.grammar)):
        return False
    return parent.kind not in _NO_VALUES


_NO_VALUES = frozenset(
    [
        "update_expression",
        "inc_statement",
        "dec_statement",
        "import_specifier",
        "import_clause",
        "namespace_import",
        "export_specifier",
        "array_pattern",
        "object_pattern",
        "rest_pattern",
        "parameter_declaration",
        "formal_parameters",
        "labeled_statement",
        "qualified_type",
        "package_clause",
        "method_elem",
    ]
)
