"""Values for parameters, by their annotation, their default or their name."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence

_NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "10",
    "12",
    "-1",
    "-3",
    "100",
    "4",
    "6",
    "8",
    "9",
    "15",
    "64",
    "255",
    "1000",
    "2.5",
)
_WHOLE = _NUMBERS[:-1]
_FLOATS = ("0.0", "0.5", "1.0", "1.5", "2.0", "-1.5", "3.25", "10.0", "100.0", "0.1")
_TEXTS = (
    "''", "'a'", "'abc'", "'a b c'", "'a,b'", "'Hello World'", "' x '", "'12'", "'3.5'", "'a/b/c.txt'", "'key=value'",
    "'foo_bar'", "'FooBar'", "'a: b'", "'one\\ntwo\\n'", "'x-y'", "'2024-01-02'", "'http://a.org/b?c=d'",
    "'\"q\"'", "'1.2.3'", "'aabbb'", "'(1, [2])'", "'a.b.c'", "'true'", "'-5'", "'example.com'", "'UTF-8'", "'a\\tb'",
    "'text/html; charset=utf-8'", "'10:30:00'", "'é'", "'#fff'", "'*.py'", "'$x'", "'{a}'", "'<b>x</b>'",
)  # fmt: skip
_LISTS = (
    "[]", "[1]", "[1, 2, 3]", "[3, 1, 2]", "['a', 'b']", "[1, 1, 2]", "[0, -1, 5, 5]", "[[1, 2], [3]]", "(1, 2)",
    "['b', 'a', 'c']", "[(1, 'a'), (2, 'b')]", "[4, 8, 15, 16, 23]", "['', 'x']", "[None, 1]", "(3, 4, 5)",
)  # fmt: skip
_TEXT_LISTS = (
    "[]",
    "['a']",
    "['a', 'b']",
    "['b', 'a', 'c']",
    "['x', 'x']",
    "['one two', '']",
    "['foo', 'bar', 'foobar']",
)
_NUMBER_LISTS = (
    "[]",
    "[1]",
    "[1, 2, 3]",
    "[3, 1, 2]",
    "[1, 1, 2]",
    "[0, -1, 5, 5]",
    "[4, 8, 15, 16, 23]",
    "[2.5, 1.0]",
)
_TUPLES = ("()", "(1,)", "(1, 2)", "('a', 'b')", "(3, 4, 5)", "('a', 1)", "(0, 0)", "(2, 1)")
_SETS = ("set()", "{1}", "{1, 2}", "{'a'}", "{'a', 'b'}")
_DICTS = (
    "{}",
    "{'a': 1}",
    "{'a': 1, 'b': 2}",
    "{'x': [1, 2]}",
    "{'a': {'b': 1}}",
    "{'b': 'x', 'a': 'y'}",
    "{1: 'a'}",
)
_BYTES = ("b''", "b'abc'", "b'\\x00\\x01'", "b'a b'", "b'a\\r\\nb'", "b'12'")
_BOOLS = ("True", "False")
_OTHERS = ("None", "True", "False", "b'abc'", "b''")
_CALLED = ("len", "str", "bool", "lambda x: x", "lambda x: x > 1", "lambda *a: a")
_BY_TYPE: tuple[tuple[str, Sequence[str]], ...] = (
    (r"(?:list|List|Sequence|Iterable|Collection|Iterator)\[(?:\w+\.)?str\b", _TEXT_LISTS),
    (r"(?:list|List|Sequence|Iterable|Collection|Iterator)\[(?:int|float)\b", _NUMBER_LISTS),
    (r"\b(?:list|List|Sequence|Iterable|Collection|Iterator|MutableSequence)\b", _LISTS),
    (r"\b(?:dict|Dict|Mapping|MutableMapping)\b", _DICTS),
    (r"\b(?:tuple|Tuple)\b", _TUPLES),
    (r"\b(?:set|Set|frozenset|FrozenSet|AbstractSet)\b", _SETS),
    (r"\bCallable\b", _CALLED),
    (r"\bbool\b", _BOOLS),
    (r"\bbytes\b|\bBuffer\b", _BYTES),
    (r"\bint\b", _WHOLE),
    (r"\bfloat\b", _FLOATS),
    (r"\bstr\b|\bText\b", _TEXTS),
)
_BY_NAME: tuple[tuple[str, Sequence[str]], ...] = (
    (
        r"^([a-bi-kmnpqvx-z]|num|number|count|size|width|height|start|end|index|year|month|day|hour|minute|value|lo|hi|pos|offset|length|level|base|n_\w+|num_\w+|max\w*|min\w*|total|seconds|depth|order|step)$",
        _NUMBERS,
    ),
    (r"s$|list|seq|items|iter|data|values|array|xs|args|lst", (*_LISTS, *_TEXTS[:8])),
    (r"dict|map|mapping|^d$|kw|opts|options|params|headers|config|attrs|info", _DICTS),
    (
        r"^s$|str|text|line|name|path|url|key|word|char|sep|prefix|suffix|title|token|expr|pattern|source|code|version|string|label|tag|content|message|msg|host|value",
        _TEXTS,
    ),
    (r"^(?:is_|has_|use_|allow|strict|reverse|verbose|force|flag)", _BOOLS),
    (r"func|callback|^f$|^fn$|predicate|^key$", _CALLED),
    (r"bytes|buf|raw|payload", _BYTES),
)  # fmt: skip
_OF_DEFAULT: dict[type, Sequence[str]] = {
    bool: _BOOLS, int: _WHOLE, float: _FLOATS, str: _TEXTS, bytes: _BYTES, tuple: _TUPLES, list: _LISTS, dict: _DICTS,
}  # fmt: skip
_FITTING, _NOTHING = 0.93, 0.15
"""Share of values of the kind that is known; that of None where it may be."""


def pool(
    name: str, annotation: ast.expr | None, default: ast.expr | None, rng: random.Random
) -> Sequence[str]:
    """Values to choose from for a parameter."""
    if rng.random() > _FITTING:
        return rng.choice((_NUMBERS, _TEXTS, _LISTS, _DICTS, _OTHERS))
    if annotation is not None:
        told = ast.unparse(annotation)
        if ("None" in told or "Optional" in told) and rng.random() < _NOTHING:
            return ("None",)
        fitting = [values for pattern, values in _BY_TYPE if re.search(pattern, told)]
        if fitting:
            return rng.choice(fitting[:2]) if "|" in told or "Union" in told else fitting[0]
    if default is not None:
        try:
            kind = type(ast.literal_eval(default))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            kind = type(None)
        if kind in _OF_DEFAULT:
            return _OF_DEFAULT[kind]
    named = [values for pattern, values in _BY_NAME if re.search(pattern, name)]
    return rng.choice(named) if named else rng.choice((_NUMBERS, _TEXTS, _LISTS, _DICTS, _OTHERS))
