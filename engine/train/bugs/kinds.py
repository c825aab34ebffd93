"""Every kind of bug by name, and how often it is put in."""

from __future__ import annotations

from engine.train.bugs import names as named
from engine.train.bugs import narrow, operators, order, remove, strings, values
from engine.train.bugs.change import Mutator

ADDED = 0.5
"""Share of bugs that are mended by adding code, as most small commits do: lines, a call around a value, a term."""
SELDOM = 0.3
"""Share of bugs of the kinds that few functions have a place for, as long as one of them has."""
OF_FEW = (
    "pattern",
    "bound",
    "form",
    "guard",
    "choice",
    "augmented",
    "out_of_loop",
    "first",
    "joined",
    "term",
)
LINES: dict[str, tuple[float, Mutator]] = {
    "guard": (16, remove.guard),
    "form": (18, remove.form),
    "statement": (5, remove.statement),
    "branch": (12, remove.branch),
    "method": (4, remove.method),
    "decorator": (0.5, remove.decorator),
    "call": (9, narrow.call),
    "term": (13, narrow.term),
    "argument": (3.5, narrow.argument),
    "element": (4, remove.element),
    "operand": (4, narrow.operand),
    "choice": (6, narrow.choice),
    "word": (3.5, narrow.word),
}
"""Name → weight, mutator."""
REPLACED: dict[str, tuple[float, Mutator]] = {
    "compare": (5, operators.compare),
    "compute": (4, operators.compute),
    "joined": (3, operators.joined),
    "negated": (3, operators.negated),
    "augmented": (5, operators.augmented),
    "branches": (4, operators.branches),
    "left_loop": (2, operators.left_loop),
    "number": (3, values.number),
    "bound": (9, values.bound),
    "first": (5, values.first),
    "default": (2.5, values.default),
    "truth": (1.5, values.truth),
    "variable": (6, named.variable),
    "updated": (3, named.updated),
    "attribute": (3, named.attribute),
    "sibling": (4, named.sibling),
    "function": (2, named.function),
    "exception": (3, named.exception),
    "text": (4, strings.text),
    "pattern": (12, strings.pattern),
    "prefix": (3, strings.prefix),
    "arguments": (3.5, order.arguments),
    "statements": (3, order.statements),
    "out_of_loop": (4, order.out_of_loop),
    "around": (2, order.around),
}
"""The same for bugs that are mended in place."""
