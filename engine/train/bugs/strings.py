"""Bugs of texts: quotes, case, separators, formats, escapes, and patterns."""

from __future__ import annotations

import ast
import random
import re
import warnings

from engine.train.bugs.change import Change, Changes
from engine.train.bugs.source import Unit

_LONGEST = 40
_TOLD = (ast.Raise, ast.Assert)
_SAID = {
    "print",
    "debug",
    "info",
    "warning",
    "warn",
    "error",
    "exception",
    "log",
    "add_argument",
    "format",
    "fail",
}
_CALLS = {"compile", "match", "search", "sub", "subn", "split", "findall", "finditer", "fullmatch"}
_PATTERN = re.compile(r"[\\^$*+?\[\](){}|]")
_SLIPS = (
    (r", ", (",", " ", ";")), (r": ", (":", "=", " ")), (r"=", (" = ", ":")), (r"\.", (",", "_", "")),
    (r"/", ("\\\\", "")), (r"\\n", ("", "\\\\n", " ", "\\r\\n")), (r"\\r\\n", ("\\n",)), (r"\\t", (" ",)),
    (r"_", ("-", "")), (r"-", ("_", "")), (r"%s", ("%r", "%d")), (r"%r", ("%s",)), (r"%d", ("%s", "%i")),
    (r"\{\}", ("{!r}", "{0}")), (r"%(\.?)(\d)", (r"%\g<1>",)), (r"utf-8", ("ascii", "latin-1")), (r"'", ("",)),
    (r"rb$", ("r",)), (r"wb$", ("w",)), (r"^r$", ("rb", "w")), (r"^w$", ("a", "wb")), (r"^ $", ("",)),
    (r"^,$", (", ", ";")), (r"s$", ("",)), (r"^__", ("_",)), (r"__$", ("_",)), (r"^ ", ("",)), (r" $", ("",)),
    (r"^\.", ("",)), (r"^-", ("",)), (r"^--", ("-",)), (r"%Y", ("%y",)), (r"%m", ("%M", "%d")),
    (r"%H", ("%I", "%h")), (r"0x", ("",)),
)  # fmt: skip
"""Part of a text as it is written → what stands there instead."""
_REGEX_SLIPS = (
    (r"(?<!\\)\*", ("+", "+", "*?")), (r"(?<!\\)\+", ("*", "*", "+?", "")), (r"(?<=[\])\w])\?", ("", "*")),
    (r"^\^", ("",)), (r"(?<!\\)\$$", ("",)), (r"(?<=[*+])\?", ("",)), (r"\\\.", (".",)), (r"\\d", (r"\\w", "[1-9]")),
    (r"\\w", (r"\\d", "[a-z]", r"\\S")), (r"\\s", (" ", r"\\S")), (r"\\S", (r"\\w", ".")), (r"\\b", ("",)),
    (r"\[\^", ("[",)), (r"a-zA-Z", ("a-z", "A-Z")), (r"A-Za-z", ("a-z",)), (r"0-9", ("1-9",)), (r"A-Z", ("",)),
    (r"(?<=\w)\|\w+", ("",)), (r"\(\?:", ("(",)), (r"\\Z", ("$", "")), (r"\\([()\[\]*+?{}])", (r"\1",)),
    (r"\{(\d),(\d)\}", (r"{\1}",)), (r"\(\?!", ("(?=",)), (r"-(?=\])", ("",)), (r"_(?=\])", ("",)),
    (r"\.\*", (r".+", r"\\S*")), (r" ", (r"\\s",)), (r"\\(?=[-'\"/])", ("",)),
    (r"\[([^\]\\])([^\]]+)\]", (r"[\2]",)), (r"\[ \]\*", ("[ ]+", "[ ]?")), (r"\{0,(\d)\}", (r"{1,\1}", "*")),
)  # fmt: skip


def text(unit: Unit, rng: random.Random) -> Changes | None:
    """A text that code depends on, not one that people read, differs a little."""
    found = [
        node
        for node in unit.all(ast.Constant)
        if isinstance(node.value, str | bytes) and not _read(unit, node)
    ]
    rng.shuffle(found)
    others = sorted({unit.of(node) for node in found})
    for node in found[:8]:
        first, last = _inside(unit, node)
        body = unit.text[first:last]
        if last <= first or last - first > _LONGEST or _regex(unit, node) or "\n" in body:
            continue
        draw = rng.random()
        if draw < 0.15 and re.fullmatch(r"[A-Za-z_]{2,}", body):
            new = body.upper() if body.islower() else body.lower()
        elif draw < 0.3 and len(others) > 1 and _comparable(unit, node):
            other = rng.choice([each for each in others if each != unit.of(node)])
            if len(other) < _LONGEST and "\n" not in other:
                return [Change(*unit.span(node), other)]
            continue
        else:
            new = _slip(body, _SLIPS, rng)
        if new is not None and new != body:
            return [Change(first, last, new)]
    return None


def pattern(unit: Unit, rng: random.Random) -> Changes | None:
    """A quantifier, anchor, class, escape or alternative of a pattern differs."""
    found = [
        node for node in unit.all(ast.Constant) if isinstance(node.value, str | bytes) and _regex(unit, node)
    ]
    rng.shuffle(found)
    for node in found:
        first, last = _inside(unit, node)
        new = _slip(unit.text[first:last], _REGEX_SLIPS, rng) if last > first else None
        if new is not None and new != unit.text[first:last] and _compiles(unit.of(node), new):
            return [Change(first, last, new)]
    return None


def prefix(unit: Unit, rng: random.Random) -> Changes | None:
    """The `f` of an f-string, the `r` of a raw one or the `b` of bytes is missing."""
    found: list[int] = [unit.span(node)[0] for node in unit.all(ast.JoinedStr)]
    for node in unit.all(ast.Constant):
        if isinstance(node.value, str | bytes) and not isinstance(unit.parent(node), ast.JoinedStr):
            start, end = unit.span(node)
            raw = unit.text[start] in "rR" and re.search(r"\\[bntrfv\d]", unit.text[start:end])
            if raw or unit.text[start] == "b":
                found.append(start)
    found = [start for start in found if unit.text[start] in "fFrb" and unit.text[start + 1] in "\"'"]
    if not found:
        return None
    start = rng.choice(found)
    return [Change(start, start + 1, "")]


def _inside(unit: Unit, node: ast.AST) -> tuple[int, int]:
    """Where the body of a plain literal stands; empty where it is written in another way, or of several pieces."""
    start, end = unit.span(node)
    whole = re.fullmatch(r"([rRbBuU]{0,2})(\"|')((?:\\.|(?!\2)[^\\\n])*)\2", unit.text[start:end])
    return (start + whole.start(3), start + whole.end(3)) if whole else (0, 0)


def _slip(body: str, slips: tuple[tuple[str, tuple[str, ...]], ...], rng: random.Random) -> str | None:
    usable = [(old, news) for old, news in slips if re.search(old, body)]
    if not usable:
        return None
    old, news = rng.choice(usable)
    places = list(re.finditer(old, body))
    place = rng.choice(places)
    return body[: place.start()] + place.expand(rng.choice(news)) + body[place.end() :]


def _read(unit: Unit, node: ast.Constant) -> bool:
    """Whether people read it: in messages and help, or as sentences."""
    if isinstance(node.value, str) and re.search(r"\w \w+ \w", node.value):
        return True
    for above in unit.parents(node):
        if isinstance(above, _TOLD):
            return True
        if isinstance(above, ast.Call):
            name = above.func.attr if isinstance(above.func, ast.Attribute) else getattr(above.func, "id", "")
            if name in _SAID:
                return True
        if isinstance(above, ast.keyword) and above.arg in ("help", "message", "msg", "description"):
            return True
        if isinstance(above, ast.JoinedStr):
            return True
        if isinstance(above, ast.stmt):
            return isinstance(above, ast.Expr) and above.value is node
    return False


def _comparable(unit: Unit, node: ast.AST) -> bool:
    return isinstance(unit.parent(node), ast.Compare | ast.Subscript | ast.Call | ast.Dict)


def _regex(unit: Unit, node: ast.Constant) -> bool:
    start, _ = unit.span(node)
    if not _PATTERN.search(unit.of(node)):
        return False
    around = unit.parent(node)
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute):
        return around.func.attr in _CALLS and (
            around.func.attr != "split" or unit.of(around.func) == "re.split"
        )
    return unit.text[start] in "rR" and "\\" in unit.of(node)


def _compiles(literal: str, new: str) -> bool:
    try:
        # slips make patterns that Python warns of, as people do
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(new if literal[0] in "rR" else new.encode().decode("unicode_escape"))
    except (re.error, ValueError, RecursionError, OverflowError):
        return False
    return True
