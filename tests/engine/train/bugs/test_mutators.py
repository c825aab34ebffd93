"""Each kind of bug on a function made up for it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from engine.train.bugs import names as named
from engine.train.bugs import narrow, operators, order, remove, slips, strings, values
from engine.train.bugs.change import applied
from engine.train.bugs.kinds import LINES, REPLACED
from engine.train.bugs.source import Unit


def results(mutator, text: str, draws: int = 60) -> set[str]:
    """All that a mutator makes of a text."""
    found = set()
    for seed in range(draws):
        changes = mutator(Unit(text), random.Random(seed))
        if changes:
            found.add(applied(text, changes))
    return found


def lines(mutator, text: str, at: int) -> set[str]:
    """A line of each result."""
    return {result.split("\n")[at].strip() for result in results(mutator, text)}


def cases() -> list[tuple[str, str, str]]:
    """Name of a mutator, a text, one of the texts that it makes of it."""
    blocks = (Path(__file__).parent / "mutated.txt").read_text("utf-8").split("## ")[1:]
    split = (re.fullmatch(r"(\S+)\n(.*)\n--\n(.*)\n", block, re.DOTALL) for block in blocks)
    return [(case[1], case[2], case[3]) for case in split if case]


@pytest.mark.parametrize(("name", "text", "result"), cases())
def test_a_mutator_makes_this_of_that(name, text, result):
    module, _, function = name.partition(".")
    mutator = getattr(
        {
            "names": named,
            "remove": remove,
            "narrow": narrow,
            "operators": operators,
            "values": values,
            "strings": strings,
            "order": order,
            "slips": slips,
        }[module],
        function,
    )
    assert result in results(mutator, text, 200)


@pytest.mark.parametrize(
    ("mutator", "text"),
    [
        (remove.statement, "def f(x):\n    '''doc'''\n    print(x)\n    unread = 1\n    return x"),
        (remove.guard, "def f(x):\n    if x:\n        return 1"),
        (remove.element, "x = [1, 2]"),
        (narrow.call, "for a in list(b):\n    pass"),
        (narrow.call, "raise ValueError(x)"),
        (narrow.argument, "f(a)"),
        (operators.compute, "x = 'a' + b"),
        (strings.text, "raise ValueError('no such, thing')"),
        (strings.text, "def f():\n    'a, b'\n    log('a, b')"),
        (order.arguments, "x = min(a, b) + f(a, a)"),
        (named.exception, "raise Own(x)"),
        (named.variable, "def f(self, a):\n    return self.b(os.c)"),
        (named.sibling, "x = sum(a)"),
        (order.around, "f(Exception)"),
        (slips.chained, "if a:\n    raise b\nelif c:\n    d()"),
        (slips.owner, "def f(self, a):\n    return self.b + a"),
        (slips.got, "x = a.get(k, key=1)"),
        (values.number, "x = 4096"),
        (values.truth, "def f(a: bool = 1) -> True:\n    return a"),
    ],
)
def test_what_would_be_no_bug_is_left(mutator, text):
    assert results(mutator, text) == set()


def test_nothing_is_given_away_by_blank_lines_or_comments():
    text = "def f(x):\n    a = g(x)\n\n    if not x:\n        return 0\n\n    return a"
    assert results(remove.guard, text) == {"def f(x):\n    a = g(x)\n\n    return a"}
    told = "def f(x):\n    # nothing there\n    if not x:\n        return 0\n    return x"
    assert results(remove.guard, told) == {"def f(x):\n    return x"}
    # a longer comment isn't taken away, so the statement isn't either
    assert results(remove.guard, told.replace("    # no", "    # there may be\n    # no")) == set()


def test_places_are_right_behind_letters_of_several_bytes():
    assert lines(operators.compare, "def f(ä):\n    return 'éé' + g(ä < 1)", 1) >= {"return 'éé' + g(ä <= 1)"}


def test_an_indented_part_is_changed_where_it_stands():
    assert results(operators.left_loop, "    for a in b:\n        break") == {
        "    for a in b:\n        continue"
    }


def test_every_kind_is_found_in_real_files(library):
    rng = random.Random(4)
    units = [Unit(document.text) for document in library]
    for kind, (_, mutator) in {**LINES, **REPLACED}.items():
        texts = [(unit.text, mutator(unit, rng)) for unit in units]
        assert sum(bool(made) and applied(text, made) != text for text, made in texts) >= 2, kind
