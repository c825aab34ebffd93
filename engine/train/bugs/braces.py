"""Bugs in JavaScript, TypeScript, Go and C: fewer kinds, by the look of lines and signs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.train.bugs.change import Change, Changes, apart, applied
from engine.train.bugs.parts import Part
from engine.train.corpus.files import Document

if TYPE_CHECKING:
    from tree_sitter import Parser

LANGUAGES = ("javascript", "typescript", "go", "c")
_GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "go": ("tree_sitter_go", "language"),
    "c": ("tree_sitter_c", "language"),
}
_HEADS = {
    "go": r"^func [^\n]*\{$",
    "c": r"^(?:[a-zA-Z_][^\n;#=]*\)\s*\{|[a-zA-Z_][^\n;#=]*\)\n\{)$",
    "javascript": r"^[ \t]*(?:(?:export |default |async |static )*function\b[^\n]*|"
    r"(?!if|for|while|switch|catch|else)(?:async |static |get )*\w+\([^\n()]*\)|[^\n]*=>) \{$",
}  # fmt: skip
_LONGEST = 120
_TOLD = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`[^`]*`|^[ \t]*#[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_KEYWORDS = frozenset({
    "any", "async", "await", "bool", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue",
    "default", "defer", "do", "double", "else", "enum", "error", "export", "extends", "false", "float", "for", "func",
    "function", "go", "goto", "if", "import", "in", "instanceof", "int", "int64", "interface", "let", "long", "make",
    "map", "new", "nil", "null", "number", "of", "package", "range", "return", "short", "size_t", "sizeof", "static",
    "string", "struct", "switch", "this", "throw", "true", "try", "type", "typeof", "uint32", "undefined", "union",
    "unsigned", "var", "void", "while",
})  # fmt: skip
_SIGNS = {
    "<": ("<=", ">"), "<=": ("<",), ">": (">=", "<"), ">=": (">",), "==": ("!=",), "!=": ("==",), "===": ("!==",),
    "!==": ("===",), "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "++": ("--",), "+=": ("-=", "="),
    "-=": ("+=",), "|=": ("=", "&="), "&": ("|",), "<<": (">>",), ">>": ("<<",), "/": ("*",), "*": ("/",),
}  # fmt: skip
_SIGN = re.compile(r" (" + "|".join(map(re.escape, sorted(_SIGNS, key=len, reverse=True))) + r") ")
_WORDS = {"true": "false", "false": "true", "break": "continue", "continue": "break"}
_GUARD = (
    r"^[ \t]*if [^\n]*(?:\{\n[ \t]*(?:return|continue|break|throw|goto)\b[^\n]*\n[ \t]*\}|"
    r"\) (?:return|continue|break)\b[^\n]*;)\n"
)
Code = str
"""A part's text whose comments and texts are blank, so that places in both are the same."""


def choose(document: Document, rng: random.Random) -> Part | None:
    """A function at random. None where the file has none."""
    text = document.text
    head = _HEADS.get(document.language, _HEADS["javascript"])
    heads = list(re.finditer(head, text, re.MULTILINE))
    if not heads or "\r" in text:
        return None
    start = rng.choice(heads)
    lines = text.split("\n")
    first = text.count("\n", 0, start.start())
    depth = 0
    for number, line in enumerate(blank(text[start.start() :]).split("\n"), first):
        depth += line.count("{") - line.count("}")
        if depth <= 0 and "}" in line:
            return Part(lines, first, number + 1, True) if 3 <= number + 1 - first <= _LONGEST else None
    return None


def put(text: str, language: str, rng: random.Random, number: int) -> tuple[str, tuple[str, ...]] | None:
    """The text with up to `number` bugs, which parses as before, and their kinds."""
    code = blank(text)
    taken: list[Change] = []
    kinds: list[str] = []
    for _ in range(number):
        left = dict(_KINDS)
        while left:
            kind = rng.choices(list(left), [weight for weight, _ in left.values()])[0]
            changes = left.pop(kind)[1](code, rng)
            if changes and apart(text, changes, taken) and applied(text, changes) != text:
                taken += changes
                kinds.append(kind)
                break
    new = applied(text, taken)
    if not taken or _errors(text, language) or _errors(new, language):
        return None
    return new, tuple(kinds)


def blank(text: str) -> Code:
    return _TOLD.sub(lambda found: re.sub(r"[^\n]", "\x01", found[0]), text)


def _guard(code: Code, rng: random.Random) -> Changes | None:
    """An `if` that leaves the function or loop: in one line or three."""
    return _gone(
        code,
        rng,
        _GUARD,
    )


def _statement(code: Code, rng: random.Random) -> Changes | None:
    return _gone(
        code,
        rng,
        r"^[ \t]+(?!return|case|default|var|let|const|if|for|else|\}|\))[\w.>*-][^\n{]*(?:;|\w\)|= [^\n{,]+[\w)\]])\n",
    )


def _branch(code: Code, rng: random.Random) -> Changes | None:
    found = list(re.finditer(r"\} else (?:if [^\n]*)?\{\n(?:[^\n{}]*\n){1,3}[ \t]*(?=\})", code))
    if not found:
        return None
    place = rng.choice(found)
    return [Change(place.start(), place.end(), "")]


def _gone(code: Code, rng: random.Random, what: str) -> Changes | None:
    found = [place for place in re.finditer(what, code, re.MULTILINE) if place.start()]
    if not found:
        return None
    place = rng.choice(found)
    return [Change(place.start(), place.end(), "")]


def _term(code: Code, rng: random.Random) -> Changes | None:
    return _drop(
        code, rng, r" (?:&&|\|\|) !?[\w.>-]+(?:\([\w, ]*\))?(?: [=!<>]=?=? [\w.-]+)?(?=\)| \{| &&| \|\|)"
    )


def _argument(code: Code, rng: random.Random) -> Changes | None:
    return _drop(code, rng, r"(?<=\w), \w+(?=\))")


def _operand(code: Code, rng: random.Random) -> Changes | None:
    return _drop(code, rng, r" [-+] \w+(?=[;)\],\n])")


def _not(code: Code, rng: random.Random) -> Changes | None:
    found = [Change(place.start(), place.end(), "") for place in re.finditer(r"!(?=[\w(])", code)]
    found += [
        Change(place.end(), place.end(), "!")
        for place in re.finditer(r"\bif \((?=\w+\))|&& (?=\w+[ )])", code)
    ]
    return [rng.choice(found)] if found else None


def _drop(code: Code, rng: random.Random, what: str) -> Changes | None:
    found = list(re.finditer(what, code))
    place = rng.choice(found) if found else None
    return [Change(place.start(), place.end(), "")] if place else None


def _sign(code: Code, rng: random.Random) -> Changes | None:
    found = list(_SIGN.finditer(code))
    place = rng.choice(found) if found else None
    return [Change(place.start(1), place.end(1), rng.choice(_SIGNS[place[1]]))] if place else None


def _number(code: Code, rng: random.Random) -> Changes | None:
    found = list(re.finditer(r"(?<![\w.])\d{1,2}(?![\w.])", code))
    place = rng.choice(found) if found else None
    return (
        [Change(place.start(), place.end(), str(abs(int(place[0]) + rng.choice([1, -1]))))] if place else None
    )


def _word(code: Code, rng: random.Random) -> Changes | None:
    found = list(re.finditer(rf"\b(?:{'|'.join(_WORDS)})\b", code))
    place = rng.choice(found) if found else None
    return [Change(place.start(), place.end(), _WORDS[place[0]])] if place else None


def _name(code: Code, rng: random.Random) -> Changes | None:
    """A name of the same form from the same function."""
    body = code.find("{")
    found = re.finditer(r"(?<![\w.>])[a-z]\w*(?!\w|\s*[(:{])", code)
    every = [place for place in found if place[0] not in _KEYWORDS]
    names = sorted({place[0] for place in every})
    used = [place for place in every if place.start() > body]
    if len(names) < 2 or not used:
        return None
    place = rng.choice(used)
    return [Change(place.start(), place.end(), rng.choice([name for name in names if name != place[0]]))]


def _arguments(code: Code, rng: random.Random) -> Changes | None:
    found = [place for place in re.finditer(r"(?<=\w\()(\w+), (\w+)(?=[,)])", code) if place[1] != place[2]]
    found = [place for place in found if place.start() > code.find("{")]
    place = rng.choice(found) if found else None
    return [Change(place.start(), place.end(), f"{place[2]}, {place[1]}")] if place else None


_KINDS: dict[str, tuple[float, Callable[[Code, random.Random], Changes | None]]] = {
    "guard": (5, _guard), "statement": (3, _statement), "branch": (3, _branch), "term": (4, _term),
    "argument": (2, _argument), "operand": (2, _operand), "not": (2, _not), "sign": (5, _sign),
    "number": (2, _number), "word": (2, _word), "name": (4, _name), "arguments": (2, _arguments),
}  # fmt: skip


@cache
def _parser(language: str) -> Parser:
    from importlib import import_module

    from tree_sitter import Language, Parser

    module, function = _GRAMMARS[language]
    grammar: Any = import_module(module)
    return Parser(Language(getattr(grammar, function)()))


def _errors(text: str, language: str) -> bool:
    """Whether a function doesn't parse, neither by itself nor as a class's."""
    parser = _parser(language)
    if not parser.parse(text.encode()).root_node.has_error:
        return False
    if language in ("go", "c"):
        return True
    return parser.parse(f"class A {{\n{text}\n}}".encode()).root_node.has_error
