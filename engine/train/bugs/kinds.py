"""Every kind of bug by name, and how often it is put in."""

from __future__ import annotations

from engine.train.bugs import names as named
from engine.train.bugs import narrow, operators, order, remove, strings, values
from engine.train.bugs.change import Mutator

ADDED = 0.5
"""Share of bugs that are mended by adding code, as most small commits do: lines, a call around a value, a term."""
LINES: dict[str, tuple[float, Mutator]] = {
    "guard": (10, remove.guard),
    "form": (11, remove.form),
    "statement": (8, remove.statement),
    "branch": (6, remove.branch),
    "method": (3, remove.method),
    "decorator": (0.5, remove.decorator),
    "call": (9, narrow.call),
    "term": (7, narrow.term),
    "argument": (5, narrow.argument),
    "element": (3, remove.element),
    "operand": (5, narrow.operand),
    "choice": (2, narrow.choice),
    "word": (4, narrow.word),
}
"""Name → weight, mutator."""
REPLACED: dict[str, tuple[float, Mutator]] = {
    "compare": (5, operators.compare),
    "compute": (3, operators.compute),
    "joined": (1.5, operators.joined),
    "negated": (2, operators.negated),
    "augmented": (3, operators.augmented),
    "branches": (2.5, operators.branches),
    "left_loop": (1, operators.left_loop),
    "number": (3, values.number),
    "bound": (6, values.bound),
    "first": (3, values.first),
    "default": (2.5, values.default),
    "truth": (1.5, values.truth),
    "variable": (8, named.variable),
    "updated": (2, named.updated),
    "attribute": (3.5, named.attribute),
    "sibling": (4, named.sibling),
    "function": (2, named.function),
    "exception": (2.5, named.exception),
    "text": (4, strings.text),
    "pattern": (5, strings.pattern),
    "prefix": (1, strings.prefix),
    "arguments": (4, order.arguments),
    "statements": (2, order.statements),
    "out_of_loop": (3, order.out_of_loop),
    "around": (2.5, order.around),
}
"""The same for bugs that are mended in place."""
