"""Text in code: format strings, what is put into them and how."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table
from deskagent.repair.syntax import Node

FORMATS = ((":02d", 0.8), (":02", 0.6), (":.2f", 0.8), (":.1f", 0.5), (":d", 0.2), (":,", 0.3), ("!r", 0.5), (":03d", 0.3), (":g", 0.2))
_WIDTH = re.compile(r"^:(0?)(\d*)(?:\.(\d+))?([a-z%]?)$")


def fields(node: Node, place: Place) -> Iterator[Proposal]:
    """`{x}` → `{x:02d}`, `{x!r}`; the format of a like field; a width or precision moved by one."""
    inner = [child for child in node.children if child.named]
    if not inner:
        return
    expression = inner[0]
    rest = [child for child in inner[1:] if child.kind in {"format_specifier", "type_conversion"}]
    end = next((child for child in node.children if child.kind == "}"), None)
    if end is None:
        return
    old = node.syntax.source.utf8[expression.end : end.start].decode("utf-8", "replace")
    offered: dict[str, float] = {}
    for other in place.syntax.root.walk():
        if other.kind == "format_specifier" and other.end - other.start < 12:
            offered[other.text] = 1.0
    for text, weight in FORMATS:
        offered.setdefault(text, weight)
    if rest:
        offered[""] = 0.5
        match = _WIDTH.match(old)
        if match is not None:
            zero, width, precision, kind = match.groups()
            for step in (1, -1):
                if width and int(width) + step > 0:
                    offered[f":{zero}{int(width) + step}{'.' + precision if precision else ''}{kind}"] = 0.6
                if precision and int(precision) + step >= 0:
                    offered[f":{zero}{width}.{int(precision) + step}{kind}"] = 0.8
            if width and not zero:
                offered[f":0{width}{'.' + precision if precision else ''}{kind}"] = 0.8
    for text, weight in offered.items():
        if text != old.strip():
            yield Proposal("string.format", weight, ((expression.end, end.start, text),), f"{{{expression.text}{old}}} → {{{expression.text}{text}}}")


TABLE: Table = {"interpolation": (fields,)}
