"""Values that the failing tests and the request show, as literals that would fit beside those in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from deskagent.repair.hints import Hints
from deskagent.repair.nodes import Node

FADES = 0.93
"""From one value handed in to the next, further from the failure."""
_WORD = re.compile(r"[^\W_][\w-]*|(?<=\w)[.:/@#][^\W_]\w*$")
_LETTERS = re.compile(r"[^\W\d_]+")
_SPOKEN = re.compile(r"<(\w+)>|'([^'\n]{1,40})'|\"([^\"\n]{1,40})\"|`([^`\n]{1,40})`")
_LONGEST = 60
Ranked = dict[object, float]


def literal(node: Node) -> object:
    """The value of a string or number in the code; None for anything else. Not to be changed."""
    return value_of(node.text)


@lru_cache(maxsize=20_000)
def value_of(text: str) -> object:
    """As `literal`, of source."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def difference(expected: str, actual: str) -> tuple[int, str, str]:
    """What two texts don't begin and end alike with: (where it begins, that of `actual`, that of `expected`)."""
    room = min(len(expected), len(actual))
    first = next((i for i in range(room) if expected[i] != actual[i]), room)
    room -= first
    last = next((i for i in range(room) if expected[-1 - i] != actual[-1 - i]), room)
    return first, actual[first : len(actual) - last], expected[first : len(expected) - last]


def texts(hints: Hints) -> Ranked:
    """Text that a new element may be made of → how much speaks for it."""
    found: Ranked = {}

    def say(value: object, weight: float) -> None:
        if isinstance(value, str) and 0 < len(value) <= _LONGEST and weight > found.get(value, 0.0):
            found[value] = weight

    errors = "\n".join(hints.examples.errors)
    weight = 1.0
    for value in hints.examples.given:
        if isinstance(value, str) and value:
            named = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", errors) is not None
            say(value, 1.0 if named else 0.9 * weight)
            for word in _WORD.findall(value)[:8]:
                say(word, 0.6 * weight)
            for word in _LETTERS.findall(value)[:8]:
                say(word, 0.5 * weight)
            weight *= FADES
    for value in hints.examples.expected[:20]:
        if isinstance(value, str):
            say(value, 0.5)
            for word in _WORD.findall(value)[:8]:
                say(word, 0.3)
    for groups in _SPOKEN.findall(hints.said):
        say(next(filter(None, groups), ""), 0.85)
    for name in sorted(hints.missing):
        say(name, 0.8)
    for error in hints.examples.errors:
        for groups in _SPOKEN.findall(error):
            say(next(filter(None, groups), ""), 0.9)
        for word in _WORD.findall(error.partition(": ")[2])[-3:]:
            say(word, 0.4)
    for value in sorted(hints.literals):
        say(value, 0.0 if value.lstrip("-").replace(".", "", 1).isdigit() else 0.3)
    for word in _WORD.findall(hints.said):
        say(word, 0.3)
    return found


def numbers(hints: Hints) -> Ranked:
    """Numbers handed in or wanted, and how many times the one the other is."""
    found: Ranked = {}
    wanted = [v for v in hints.examples.expected if type(v) in (int, float)][:10]
    given = [v for v in hints.examples.given if type(v) in (int, float)][:10]
    for value in wanted:
        found.setdefault(value, 1.0)
    for value in wanted:
        for handed in given:
            assert isinstance(value, (int, float)) and isinstance(handed, (int, float))
            if handed and abs(handed) != 1 and value:
                quotient = value / handed
                found.setdefault(int(quotient) if quotient == int(quotient) else quotient, 0.8)
    for handed in given:
        found.setdefault(handed, 0.5)
    return found


def _looks(text: str) -> tuple[object, ...]:
    head = text[:1]
    return (text.islower(), text.isupper(), head if head and not head.isalnum() else "", " " in text,
            text.replace(".", "").isdigit(), bool(re.search(r"[^\w\s]", text[1:])), len(text) == 1)  # fmt: skip


def fit(text: str, others: Sequence[str]) -> float:
    """How well `text` looks like the others, in (0, 1]: case, first sign, blanks, length."""
    if not others:
        return 0.5
    rows = [_looks(other) for other in others]
    weight = 1.0
    for column, own in enumerate(_looks(text)):
        share = sum(row[column] == own for row in rows) / len(rows)
        weight *= max(0.25, share)
    if len(text) > 2 * max(map(len, others)) + 2:
        weight *= 0.4
    return weight


def written(like: Node, value: object) -> str:
    """`value` as a literal, with the quotes that the code `like` uses, and a float where it has one."""
    if isinstance(value, str):
        double = like.text.find('"') >= 0 and (
            like.text.find("'") < 0 or like.text.find('"') < like.text.find("'")
        )
        if double and '"' not in value and "\\" not in value and value.isprintable():
            return f'"{value}"'
        return repr(value)
    if isinstance(value, int) and not isinstance(value, bool) and any(n.kind == "float" for n in like.walk()):
        return repr(float(value))
    return repr(value)


def best(ranked: Mapping[object, float], count: int) -> Iterable[tuple[object, float]]:
    """The `count` likeliest, in a fixed order."""
    return sorted(ranked.items(), key=lambda item: (-item[1], repr(item[0])))[:count]
