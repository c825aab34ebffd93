"""Conditions narrowed and widened, ways out, branches and calls, as the file asks and makes elsewhere: what real fixes
add, and no failing test spells out."""

from __future__ import annotations

from collections.abc import Iterator

from deskagent.repair.candidates.base import ATOM, PRECEDENCE, Place, Proposal, Table, is_value, put, wrapped
from deskagent.repair.candidates.blocks import alone, before, dedented, first_in, indented, instead
from deskagent.repair.candidates.conditions import tests
from deskagent.repair.candidates.guards import ways_out
from deskagent.repair.candidates.moulds import Mould, conditions, making
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import CLAUSES, COMPOUND

_OR, _AND = PRECEDENCE["or"], PRECEDENCE["and"]
MAX_TERMS, MAX_GUARDS, MAX_WAYS, MAX_CALLS = 40, 16, 4, 18

PLAIN = 0.3
"""What a plain question weighs: other operators ask it, too."""


def term(node: Node, place: Place) -> Iterator[Proposal]:
    """A condition with one more term, asked as the file asks elsewhere."""
    for test in tests(node):
        for text, weight, level in conditions(place, MAX_TERMS):
            if text in test.text:
                continue
            for word, binds, share in (("and", _AND, 1.0), ("or", _OR, 0.7)):
                own = f"({text})" if level < binds else text
                new = f"{wrapped(test, binds)} {word} {own}"
                yield put("mould.term", test, new, weight * share, binds)
                new = f"{own} {word} {wrapped(test, binds)}"
                yield put("mould.term", test, new, weight * share * 0.5, binds)
                for link in _links(test, word):
                    at = link.end
                    note = f"{word} {text}"
                    yield Proposal("mould.term", weight * share * 0.4, ((at, at, f" {word} {own}"),), note)


def _links(test: Node, word: str) -> Iterator[Node]:
    """The parts of a chain `a and b and c` that another follows."""
    while test.kind == "boolean_operator":
        left, token = test.get("left"), test.get("operator")
        if left is None or token is None or token.text != word:
            return
        yield left
        test = left


def _plain(text: str) -> bool:
    """Whether a condition asks of a mere name whether it is there."""
    return text.removeprefix("not ").removesuffix(" is None").removesuffix(" is not None").isidentifier()


def leave(node: Node, place: Place) -> Iterator[Proposal]:
    """`if …: return` before a statement, or first in the function."""
    if place.function is None or node.kind in CLAUSES:
        return
    header = node.kind == "function_definition"
    if not header and not alone(node):
        return
    ways = [(way, share) for way, share in ways_out(place)[:MAX_WAYS] if way != node.text]
    for text, weight, _ in conditions(place, MAX_GUARDS):
        weight *= PLAIN if _plain(text) else 1.0
        for way, share in ways:
            lines = f"if {text}:\n{place.syntax.unit}{way}"
            put_in = first_in if header else before
            made = put_in("mould.leave", node, lines, weight * share)
            if made is not None:
                yield made


def under(node: Node, place: Place) -> Iterator[Proposal]:
    """A statement put under a condition."""
    if node.kind in COMPOUND or node.kind in CLAUSES or not alone(node) or node.end - node.start > 300:
        return
    for text, weight, _ in conditions(place, MAX_GUARDS):
        weight *= PLAIN if _plain(text) else 1.0
        lines = f"if {text}:\n{indented(dedented(node), place.syntax.unit)}"
        yield Proposal("mould.under", weight, (instead(node, lines),), f"only if {text}")


def around(node: Node, place: Place) -> Iterator[Proposal]:
    """A value put through a call that the file puts others through: `x` → `clean(x)`, `x.strip()`."""
    if not is_value(node) or node.end - node.start > 80:
        return
    simple = node.kind in {"identifier", "attribute", "call", "subscript", "string"}
    for mould, likely in making(place)[:MAX_CALLS]:
        if (simple or mould.head) and not _there(mould, place.statement):
            yield put("mould.around", node, mould.of(node.text), likely, ATOM)


def _there(mould: Mould, statement: Node) -> bool:
    """Whether a statement does the same to a value of its own already."""
    return mould.head in statement.text and mould.tail in statement.text


_VALUES = ("identifier", "attribute", "call", "subscript", "binary_operator", "string", "list_comprehension",
           "conditional_expression", "boolean_operator", "generator_expression")  # fmt: skip
TABLE: Table = {
    "statement": (leave, under),
    "if_statement": (term,),
    "elif_clause": (term,),
    "while_statement": (term,),
    "if_clause": (term,),
    "conditional_expression": (term, around),
    "return_statement": (term,),
    **{kind: (around,) for kind in _VALUES if kind != "conditional_expression"},
}
