"""Every kind of bug by name, and how often it is put in."""

from __future__ import annotations

from engine.train.bugs import names as named
from engine.train.bugs import narrow, operators, order, remove, slips, strings, values
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
    "chained",
    "owner",
    "fewer",
    "got",
    "yielded",
)
LINES: dict[str, tuple[float, Mutator]] = {
    "guard": (16, remove.guard),
    "form": (18, remove.form),
    "statement": (7, remove.statement),
    "branch": (12, remove.branch),
    "method": (4, remove.method),
    "decorator": (0.5, remove.decorator),
    "call": (7, narrow.call),
    "term": (13, narrow.term),
    "argument": (3, narrow.argument),
    "element": (4, remove.element),
    "operand": (4, narrow.operand),
    "choice": (6, narrow.choice),
    "word": (2.5, narrow.word),
    "fewer": (3, slips.fewer),
    "yielded": (1.5, slips.yielded),
}
"""Name → weight, mutator."""
REPLACED: dict[str, tuple[float, Mutator]] = {
    "compare": (12, operators.compare),
    "compute": (4, operators.compute),
    "joined": (3, operators.joined),
    "negated": (3, operators.negated),
    "augmented": (5, operators.augmented),
    "branches": (4, operators.branches),
    "left_loop": (2, operators.left_loop),
    "number": (5, values.number),
    "bound": (9, values.bound),
    "first": (3, values.first),
    "default": (2.5, values.default),
    "truth": (1.5, values.truth),
    "variable": (7, named.variable),
    "updated": (3, named.updated),
    "attribute": (4, named.attribute),
    "sibling": (4, named.sibling),
    "function": (2, named.function),
    "exception": (3, named.exception),
    "text": (4, strings.text),
    "pattern": (12, strings.pattern),
    "prefix": (3, strings.prefix),
    "arguments": (4, order.arguments),
    "statements": (3, order.statements),
    "out_of_loop": (2.5, order.out_of_loop),
    "around": (1.5, order.around),
    "off": (7, slips.off),
    "presence": (6, slips.presence),
    "got": (3, slips.got),
    "chained": (2.5, slips.chained),
    "owner": (2.5, slips.owner),
}
"""The same for bugs that are mended in place."""
