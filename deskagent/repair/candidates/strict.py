"""What a pattern takes that nobody thinks of: `$` a line break more, `\\d` and `\\w` the digits and letters of all
scripts. Where a failing example has such signs, and only there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten
from deskagent.repair.candidates.regexes import is_pattern
from deskagent.repair.nodes import Node

_END = re.compile(r"(?<!\\)\$(?=$|\))")
_LONGEST = 300


def strict(node: Node, place: Place) -> Iterator[Proposal]:
    """`"^\\d+$"` → `"^\\d+\\Z"`, `"^[0-9]+$"`; `re.match(…)` is left to be `fullmatch` by others."""
    contents = [child for child in node.children if child.kind == "string_content"]
    if len(contents) != 1 or node.end - node.start > _LONGEST or not (is_pattern(node) or _compiled(node)):
        return
    content, text = contents[0], contents[0].text
    shown = "".join(v for v in place.hints.examples.given[:20] if isinstance(v, str) and len(v) < _LONGEST)
    if "r" not in node.text[:2].lower():
        return
    made: list[str] = []
    if "\n" in shown and _END.search(text):
        made.append(_END.sub(lambda _: r"\Z", text))
    if not shown.isascii():
        if r"\d" in text:
            made.append(text.replace(r"[\d", "[0-9").replace(r"\d", "[0-9]"))
        if re.search(r"\\[dws]", text):
            made.append(f"(?a){text}" if not text.startswith("(?") else text.replace("(?", "(?a", 1))
    for changed in made:
        edit = (content.start, content.end, changed)
        yield Proposal("string.strict", 1.0, (edit,), f"{shorten(text)} → {shorten(changed)}")


def _compiled(node: Node) -> bool:
    call = node.parent.parent if node.parent is not None else None
    return call is not None and call.kind == "call" and call.text.startswith(("re.", "regex."))


TABLE: Table = {"string": (strict,)}
