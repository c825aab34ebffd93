"""Text in code: format strings, what is put into them and how."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, shorten
from deskagent.repair.nodes import Node

FORMATS = (
    (":02d", 0.8),
    (":02", 0.6),
    (":.2f", 0.8),
    (":.1f", 0.5),
    (":d", 0.2),
    (":,", 0.3),
    ("!r", 0.5),
    (":03d", 0.3),
    (":g", 0.2),
)
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
    for text in place.syntax.format_specifiers:
        offered[text] = 1.0
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
            yield Proposal(
                "string.format",
                weight,
                ((expression.end, end.start, text),),
                f"{{{expression.text}{old}}} → {{{expression.text}{text}}}",
            )


# In date formats and regular expressions: a part → what it is taken for.
PARTS: dict[str, tuple[str, ...]] = {
    "%I": ("%H",),
    "%H": ("%I",),
    "%m": ("%M",),
    "%M": ("%m",),
    "%y": ("%Y",),
    "%Y": ("%y",),
    "%d": ("%D", "%s"),
    "%j": ("%d",),
    "%b": ("%B",),
    "%B": ("%b",),
    "%a": ("%A",),
    "%A": ("%a",),
    "%f": ("%S",),
    "%s": ("%r", "%d"),
    "%r": ("%s",),
    r"\d": (r"\w", "[0-9]"),
    r"\w": (r"[\w-]", r"[\w.]", r"\S", "[A-Za-z]"),
    r"\s": (r"\S", " "),
    r"\S": (r"\s", r"\w"),
    r"\b": ("", r"\B"),
    "*": ("+", "*?"),
    "+": ("*", "+?"),
    "?": ("", "*", "+"),
    "[^": ("[",),
    ".": (r"\.", "[^,]"),
    "^": ("",),
    "$": (r"\Z", ""),
    "a-z": ("a-zA-Z", "a-z0-9", "a-z_", "a-z-"),
    "A-Z": ("A-Za-z",),
    "0-9": ("0-9a-f", "0-9.", "0-9-"),
}
_PATTERN = re.compile(r"\\[dwsSbWD]|\[[^\]]+\]|\(\?|[)\]][*+?]|\.\*|\.\+")
_DATE = re.compile(r"%[HIMmyYdjbBaASf]")


def patterns(node: Node, place: Place) -> Iterator[Proposal]:
    """In a date format `%I` → `%H`; in a regular expression `*` → `+`, `\\d` → `\\w`, anchors put in."""
    content = [child for child in node.children if child.kind == "string_content"]
    if len(content) != 1 or node.end - node.start > 200:
        return
    text = content[0].text
    dates, pattern = bool(_DATE.search(text)), bool(_PATTERN.search(text))
    if not (dates or pattern):
        return
    for old, others in PARTS.items():
        if old.startswith("%") != dates:
            continue
        for match in re.finditer(re.escape(old), text):
            if pattern and match.start() and text[match.start() - 1] == "\\":
                continue
            for new in others:
                changed = text[: match.start()] + new + text[match.end() :]
                if pattern and not sound(changed):
                    continue
                at = content[0].start + len(text[: match.start()].encode())
                edit = (at, at + len(old.encode()), new)
                yield Proposal(
                    "string.pattern", 0.8 if dates else 0.5, (edit,), f"{shorten(text)} → {shorten(changed)}"
                )
    if pattern:
        for changed, weight in (
            (text + "$", 0.4),
            ("^" + text, 0.3),
            (rf"\b{text}", 0.2),
            (rf"{text}\b", 0.2),
        ):
            if sound(changed):
                yield Proposal(
                    "string.pattern",
                    weight,
                    ((content[0].start, content[0].end, changed),),
                    f"{shorten(text)} → {shorten(changed)}",
                )


def sound(pattern: str) -> bool:
    """Whether `pattern` is a regular expression."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


TABLE: Table = {"interpolation": (fields,), "string": (patterns,)}
