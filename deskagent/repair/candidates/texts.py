"""Strings edited so that the text which came becomes the one that was expected."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import lru_cache

from deskagent.repair.candidates.base import (
    MAX_SCOPE,
    PRECEDENCE,
    Place,
    Proposal,
    Table,
    put,
    shorten,
    wrapped,
)
from deskagent.repair.candidates.shown import literal, written
from deskagent.repair.hints import Hints
from deskagent.repair.nodes import Node

Change = tuple[int, int, str]
"""Of the text that came: from, to, what should be there."""
CODECS = {
    "utf-8": 1.0,
    "utf-8-sig": 0.6,
    "latin-1": 0.6,
    "cp1252": 0.5,
    "ascii": 0.3,
    "utf-16": 0.2,
    "utf8": 0.1,
}
MAX_TEXT, MAX_PAIRS = 400, 8
_ENDS = 4
"""So many characters at a string's ends show that expected text is the same one."""


@lru_cache(maxsize=256)
def changes(expected: str, actual: str) -> tuple[Change, ...]:
    """What turns `actual` into `expected`, from the left."""
    matcher = difflib.SequenceMatcher(None, actual[:MAX_TEXT], expected[:MAX_TEXT], autojunk=False)
    return tuple((a, b, expected[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def _pairs(hints: Hints) -> list[tuple[str, str]]:
    return [(e, a) for e, a in hints.examples.texts if len(a) <= MAX_TEXT * 4][:MAX_PAIRS]


def pieces(node: Node, place: Place) -> Iterator[Proposal]:
    """The text between a string's quotes and fields, changed where the difference lies in it or at its edge."""
    text = node.text
    if not text or "\\" in text or node.parent is None:
        return
    plain = text.replace("{{", "{").replace("}}", "}") if _formatted(node.parent) else text
    offered: dict[str, float] = {}
    for expected, actual in _pairs(place.hints):
        found = changes(expected, actual)
        for new in _inside(plain, actual, found):
            offered[new] = 1.0
        for _, _, new in found:  # the difference may come from this piece together with what is beside it
            if new and len(new) <= 12:
                offered.setdefault(plain + new, 0.35)
                offered.setdefault(new + plain, 0.35)
        for start, end, new in found:
            gone = actual[start:end]
            if gone and gone in plain and len(gone) <= len(plain):
                offered.setdefault(plain.replace(gone, new), 0.8)
    for new, weight in offered.items():
        if new != plain:
            raw = new.replace("{", "{{").replace("}", "}}") if _formatted(node.parent) else new
            raw = raw.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
            raw = raw.replace(node.parent.text[-1], "\\" + node.parent.text[-1])
            note = f"{shorten(text)} → {shorten(raw)}"
            yield Proposal("string.told", weight, ((node.start, node.end, raw),), note)


def _inside(piece: str, actual: str, found: tuple[Change, ...]) -> Iterator[str]:
    """`piece` with the changes that lie where it stands in `actual`, at each place where it does."""
    at = actual.find(piece)
    while at >= 0:
        end = at + len(piece)
        own = [(a - at, b - at, new) for a, b, new in found if at <= a and b <= end]
        if own:
            out, last = "", 0
            for a, b, new in own:
                out, last = out + piece[last:a] + new, b
            yield out + piece[last:]
            inner = [change for change in own if change[0] > 0 or change[1] < len(piece)]
            if 0 < len(inner) < len(own) or len(own) > 1:
                for a, b, new in own[:4]:
                    yield piece[:a] + new + piece[b:]
        at = actual.find(piece, at + 1)


def _formatted(node: Node) -> bool:
    return "f" in node.text[: node.text.find(node.text[-1])].lower()


def separators(node: Node, place: Place) -> Iterator[Proposal]:
    """`"".join` → `", ".join`, `x.split(" ")` → `x.split(",")`: an empty or short string takes what is missing, here
    alone and wherever the function has the same."""
    value = literal(node)
    if not isinstance(value, str) or len(value) > 4 or _formatted(node):
        return
    missing: dict[str, float] = {}
    for expected, actual in _pairs(place.hints):
        for start, end, new in changes(expected, actual):
            if new and len(new) <= 12 and (start == end or actual[start:end] == value):
                missing[new] = 1.0
                missing.setdefault(value + new, 0.8)
                missing.setdefault(new + value, 0.6)
            elif not new and actual[start:end] and actual[start:end] in value:
                missing[value.replace(actual[start:end], "", 1)] = 0.9
    twins = [n for n in place.scope_nodes[:MAX_SCOPE] if n.kind == "string" and n.text == node.text]
    for new, weight in missing.items():
        if new == value:
            continue
        text = written(node, new)
        yield put("string.told", node, text, weight)
        if len(twins) > 1 and node is twins[0]:
            edits = tuple((twin.start, twin.end, text) for twin in twins)
            yield Proposal("string.told", weight, edits, f"{node.text} → {text}, {len(twins)} times")


def whole(node: Node, place: Place) -> Iterator[Proposal]:
    """A string → the expected text that begins or ends as it does; a field dropped from it."""
    if node.start + 2 >= node.end:
        return
    contents = [child for child in node.children if child.kind == "string_content"]
    fields = [child for child in node.children if child.kind == "interpolation"]
    if contents and not fields:
        text = contents[0].text
        for wanted in _wanted(place.hints):
            if wanted != text and _alike(text, text, wanted):
                yield put("string.told", node, written(node, wanted), 0.8)
        if not _formatted(node) and "{" in text and any("{" in a for _, a in _pairs(place.hints)):
            yield put("string.told", node, "f" + node.text, 1.0)
    if not fields:
        return
    first = contents[0].text if contents and contents[0].start < fields[0].start else ""
    last = contents[-1].text if contents and contents[-1].start > fields[-1].start else ""
    for wanted in _wanted(place.hints):
        if _alike(first, last, wanted):
            yield put("string.told", node, written(node, wanted), 0.7)
    source = node.syntax.source.utf8
    for field in fields:
        for left, right in ((1, 0), (0, 1), (0, 0)):
            start, end = field.start - left, field.end + right
            blank = source[start : field.start] + source[field.end : end]
            if blank.strip() or len(blank) != left + right:
                continue
            yield Proposal(
                "string.fewer", 0.6, ((start, end, ""),), f"drop {shorten(field.text)} from the text"
            )
        expression = next((child for child in field.children if child.named), None)
        if expression is not None and any(repr(a) == e or repr(e) == a for e, a in _pairs(place.hints)):
            at = expression.end
            yield Proposal("string.told", 0.8, ((at, at, "!r"),), f"{expression.text} → {expression.text}!r")


def _wanted(hints: Hints) -> list[str]:
    """Expected texts and their lines."""
    found: dict[str, None] = {}
    for value in hints.examples.expected:
        if isinstance(value, str) and len(value) <= MAX_TEXT:
            found[value] = None
            for line in value.splitlines()[:10]:
                found[line] = None
    return [*found][:30]


def _alike(first: str, last: str, wanted: str) -> bool:
    """Whether `wanted` begins as `first` does, or ends as `last` does."""
    head, tail = first[:_ENDS], last[-_ENDS:]
    return (len(head) == _ENDS and wanted.startswith(head)) or (len(tail) == _ENDS and wanted.endswith(tail))


def ends(node: Node, place: Place) -> Iterator[Proposal]:
    """`return x` → `return x + "\\n"`, and text put before it; the same within a formatted string's quotes."""
    value = node.parts[0] if node.parts else None
    if value is None:
        return
    formatted = value.kind == "string" and any(child.kind == "interpolation" for child in value.children)
    quotes = [child for child in value.children if child.kind in {"string_start", "string_end"}]
    for expected, actual in _pairs(place.hints):
        if not actual or len(expected) - len(actual) > 40:
            continue
        before, _, after = expected.partition(actual)
        if before + actual + after != expected or (before and after):
            continue
        if formatted and len(quotes) == 2 and (before + after).isprintable():
            at = quotes[0].end if before else quotes[1].start
            new = (before + after).replace("{", "{{").replace("}", "}}")
            if quotes[1].text[-1] not in new and "\\" not in new:
                yield Proposal("string.told", 1.0, ((at, at, new),), f"put {new} into the text")
        piece = written(value, before + after)
        text = f"{piece} + {wrapped(value, 10)}" if before else f"{wrapped(value, 9)} + {piece}"
        yield put("string.told", value, text, 0.7, PRECEDENCE["+"])


def binary(node: Node, place: Place) -> Iterator[Proposal]:
    """`","` → `b","` and back, where bytes meet text; the name of an encoding → another."""
    wanted = place.hints.conversions
    if node.text[:1] in "'\"" and wanted.get(".encode()", 0.0) > 0 and node.text.isascii():
        yield put("string.told", node, "b" + node.text, wanted[".encode()"])
    if node.text[:1] in "bB" and wanted.get(".decode()", 0.0) > 0:
        yield put("string.told", node, node.text[1:], wanted[".decode()"])
    old = literal(node)
    if isinstance(old, str) and old.lower().replace("_", "-") in CODECS:
        for name, weight in CODECS.items():
            if name != old.lower():
                yield put("string.told", node, written(node, name), 0.6 * weight)


TABLE: Table = {
    "string_content": (pieces,),
    "string": (separators, whole, binary),
    "return_statement": (ends,),
}
