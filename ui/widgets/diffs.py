"""A unified diff as coloured lines with the numbers of the new file."""

from __future__ import annotations

import re

from textual.content import Content

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")


def counts(text: str) -> tuple[int, int]:
    """Lines that are added and taken out."""
    lines = text.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    return added, sum(line.startswith("-") and not line.startswith("--- ") for line in lines)


def diff(text: str, most: int = 0) -> Content:
    """text: made inert before. most: lines that are shown, 0 for all; the rest is counted."""
    rows: list[Content] = []
    old = new = 0
    files = text.count("\n+++ ") + text.startswith("+++ ")
    for line in text.rstrip("\n").split("\n"):
        if found := _HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            if rows and (files < 2 or not _is_name(rows[-1])):
                rows.append(Content.styled("     ⋯", "$muted"))
        elif line.startswith("--- ") or line.startswith("diff --git "):
            continue
        elif line.startswith("+++ "):
            if files > 1:
                rows.append(Content.styled(line[4:].removeprefix("b/"), "bold"))
        elif line.startswith("+"):
            rows.append(_row(new, "+", line[1:], "$text-success"))
            new += 1
        elif line.startswith("-"):
            rows.append(_row(old, "-", line[1:], "$text-error"))
            old += 1
        elif line.startswith("\\"):
            rows.append(Content.styled(f"      {line}", "$muted"))
        else:
            rows.append(_row(new, " ", line[1:], "$muted"))
            old, new = old + 1, new + 1
    if most and len(rows) > most:
        rows = [*rows[:most], Content.styled(f"     … {len(rows) - most} lines more", "$muted")]
    return Content("\n").join(rows)


def _is_name(row: Content) -> bool:
    return not row.plain.startswith(" ")


def _row(number: int, sign: str, text: str, style: str) -> Content:
    shown = f"{sign} {text}".replace("\t", "    ")
    return Content.assemble((f"{number:>4} ", "$faint"), (shown, style))
