"""What each sign of a right patch counts, on the scale of natural logarithms of odds."""

from __future__ import annotations

from collections.abc import Mapping

WEIGHTS: Mapping[str, float] = {
    # the edit itself
    "kind": 1.0,            # log of the operator's prior
    "size": -0.017,         # a character taken out or put in
    "place": 0.5,           # log of the place's suspicion, the most suspicious being 0
    "late": -0.15,          # log of its number in the order of trying
    # what it makes of the code
    "dead": -1.5,           # a statement that can't be reached or does nothing
    "constant": -1.5,       # a condition that is always the same, a value against itself
    "twice": -1.0,          # the same statement, condition or branch twice
    "special": -1.5,        # a case of its own for a value of the failing test
    "shifted": -0.7,        # one side of a comparison shifted by one
    "removed": -0.5,        # a statement removed without another in its place
    "broad": -0.7,          # catches more than the failure needs
    "idle": -0.8,           # a parameter or variable is no longer used
    "used": 0.8,            # one that nothing used is used now
    "literal": -1.0,        # a literal where the module has a name for the same value
    "alias": -0.7,          # a new name for a list, set or dict that has one
    "crossed": -1.0,        # an argument `a` for the parameter `b` though there is a parameter `a`
    # words
    "asked": 0.4,           # names that the request uses
    "told": 0.3,            # names and exceptions that the failing tests tell of
    "expected": 0.5,        # returns what the failing test expects, if that is a plain value
    "tested": 0.3,          # in a function that a failing test is named after
    "documented": 0.3,      # names that the docstring of the function uses
    # types
    "mixed": -1.0,          # returns another kind of value than all other returns of the function
    "annotated": -1.5,      # a value or result that an annotation excludes, where another patch has none
    "callers": -1.5,        # returns what callers can't use as they do: iterate, subscript, an attribute
    # tests that aren't asked for
    "left": -3.0,           # share of those left failing that pass with another patch
    # what the project states
    "example": -3.0,        # share of the telling examples of docstrings that fail, less the least
    "law": -1.0,            # the same of round trips and of what done twice is like done once
    # what it does
    "kept": 2.0,            # share of other inputs on which it does what the unedited code does, less the best's
    "agrees": 1.0,          # share of the other patches' behaviours that it agrees with, less the best's
    "breaks": -3.0,         # share of inputs on which it newly raises, hangs or dies, less the least
    "types": -1.5,          # returns a type that the function did not return before in passing tests
    "spoils": -1.0,         # changes its arguments where the unedited code did not
}  # fmt: skip
