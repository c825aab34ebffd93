"""A text that the code puts together and that lacks a part: `f"P({self.x})"` → `f"P({self.x}, {self.y!r})"`, where the
failing test shows what should stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten, similarity
from deskagent.repair.candidates.known import owner_of, used
from deskagent.repair.candidates.shown import difference
from deskagent.repair.nodes import Node

_CORE = re.compile(r"'[^']*'|\"[^\"]*\"|[^\W_](?:[\w.@-]*\w)?")
_LONGEST, _NAMES, _TEXTS = 300, 8, 6


def complete(node: Node, place: Place) -> Iterator[Proposal]:
    """The missing part put in, as text and with a name in the place of its last word."""
    if node.end - node.start > _LONGEST or node.row != node.end_row or place.function is None:
        return
    parts = [c for c in node.children if c.kind in {"string_content", "interpolation"}]
    marks = node.text[: node.text.find(node.text[-1])].lower()
    if not parts or "b" in marks or "r" in marks or node.text[-3:] in {'"""', "'''"}:
        return
    if any(c.kind == "string_content" and set(c.text) & set("\\{}%") for c in parts):
        return
    wanted = "".join(f"({re.escape(c.text)})" if c.kind == "string_content" else "(.*?)" for c in parts)
    pattern = re.compile(wanted, re.DOTALL)
    for expected, actual in place.hints.examples.texts[:_TEXTS]:
        found = pattern.fullmatch(actual) or pattern.search(actual)
        if found is not None:
            yield from _filled(node, parts, found, expected, actual, place)


def _filled(
    node: Node, parts: list[Node], found: re.Match[str], expected: str, actual: str, place: Place
) -> Iterator[Proposal]:
    first, old, new = difference(expected, actual)
    for index, part in enumerate(parts):
        start, end = found.span(index + 1)
        if part.kind != "string_content" or not start <= first <= end or first + len(old) > end:
            continue
        at = part.start + len(part.text[: first - start].encode())
        stop = at + len(old.encode())
        for piece, weight, formatted in _pieces(new, node, place):
            edits = [(at, stop, piece)]
            if formatted and not any(c.kind == "interpolation" for c in parts):
                edits.insert(0, (node.start, node.start, "f"))
            note = f"{shorten(old) or 'put in'} → {shorten(piece)}"
            yield Proposal("string.complete", weight, tuple(edits), note)
        return


def _pieces(new: str, node: Node, place: Place) -> Iterator[tuple[str, float, bool]]:
    """(text to put in, weight, whether it has names in it)."""
    quote = node.text[-1]
    if "\n" in new or "\\" in new or not new.isprintable():
        return
    plain = new.replace("{", "{{").replace("}", "}}") if "f" in node.text[:2].lower() else new
    if quote not in new:
        yield plain, 0.5 if _CORE.search(new) else 1.0, False
    cores = list(_CORE.finditer(new))
    for core in reversed(cores[-2:]):
        before, after = new[: core.start()], new[core.end() :]
        if set(before + after) & {quote, "{", "}"}:
            continue
        spelled = core.group()[:1] in "'\""
        for name, weight in _names(before, core.group(), node, place):
            text = f"{{{name}!r}}" if spelled else f"{{{name}}}"
            yield f"{before}{text}{after}", weight, True


def _names(before: str, core: str, node: Node, place: Place) -> list[tuple[str, float]]:
    """What may stand there: attributes and variables that the text has not got yet, those it speaks of first."""
    found: dict[str, float] = {}
    owner = owner_of(node)
    label = re.sub(r"\W+$", "", before).rpartition(" ")[2].strip("(,[").lower()
    for attribute in sorted(used(owner)) if owner is not None and "self" in place.names else ():
        if attribute not in node.text:
            found[attribute] = 0.7 + 0.3 * similarity(attribute[5:].strip("_"), label or "?")
    for name in place.own_variables:
        if f"{{{name.text}" not in node.text:
            found[name.text] = 0.6 + 0.4 * similarity(name.text, label or "?")
    bound = place.hints.asked.bound or {}
    for name, values in bound.items():
        if name in found and core.strip("'\"") in map(str, values):
            found[name] = 1.0
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_NAMES]


TABLE: Table = {"string": (complete,)}
