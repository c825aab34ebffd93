"""Works out the value of an expression."""

import operator

from calc.parse import parse
from calc.problems import MathProblem
from calc.scan import scan

ACTIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
    "neg": operator.neg,
}


def value(tree):
    if isinstance(tree, float):
        return tree
    name, *parts = tree
    try:
        return ACTIONS[name](*map(value, parts))
    except ZeroDivisionError:
        raise MathProblem("division by zero") from None


def evaluate(text):
    """The value of a text like 2 * (3 + 4)."""
    return value(parse(scan(text)))
