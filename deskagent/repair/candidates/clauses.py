"""A branch more in a chain of branches, a member more in a class: beside its like, as the failing tests show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, put, shorten
from deskagent.repair.candidates.blocks import after, below, dedented
from deskagent.repair.candidates.shown import Ranked, best, fit, literal, numbers, texts, written
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block, siblings

KEYS, VALUES = 8, 4
_UNKNOWN_MEMBER = re.compile(r"has no attribute '(\w+)'|'?([^\s']+)'? is not a valid \w+|KeyError: '(\w+)'")


def branch(node: Node, place: Place) -> Iterator[Proposal]:
    """`elif unit == "a": return 1` → the same for `"b"` after it, with the value that is expected then."""
    condition, body = node.get("condition"), block(node)
    if condition is None or body is None or condition.kind != "comparison_operator" or len(body.parts) != 1:
        return
    if node.kind == "if_statement" and any(c.kind == "elif_clause" for c in node.children):
        return  # the chain's last link does it
    if node.kind == "elif_clause" and node.parent is not None:
        links = [c for c in node.parent.children if c.kind == "elif_clause"]
        if links[-1] is not node:
            return
    key = condition.parts[-1]
    if len(condition.parts) != 2 or key.kind not in {"string", "integer"} or "==" not in condition.text:
        return
    old = literal(key)
    pool = texts(place.hints) if key.kind == "string" else numbers(place.hints)
    ranked: Ranked = {
        v: w * (fit(str(v), [str(old)]) if key.kind == "string" else 0.7) for v, w in pool.items()
    }
    values = _values(body.parts[0], place)
    syntax = node.syntax
    at = below(body)
    otherwise = any(c.kind == "else_clause" for c in node.children)
    chained = node.kind == "elif_clause" or otherwise or not _leaves(body.parts[0])
    for new, weight in best({v: w for v, w in ranked.items() if v != old}, KEYS):
        head = condition.text[: key.start - condition.start] + written(key, new)
        for text, share in best(values, VALUES):
            word = "elif" if chained else "if"
            indent = syntax.indent(node)
            inner = syntax.indent(body.parts[0]) if body.row > node.row else indent + syntax.unit
            line = f"\n{indent}{word} {head}:\n{inner}{text}"
            yield Proposal(
                "clause.more",
                weight * share,
                ((at, at, line),),
                f"add {word} {shorten(head)}: {shorten(str(text))}",
            )


def _leaves(statement: Node) -> bool:
    return statement.kind in {"return_statement", "raise_statement", "continue_statement", "break_statement"}


def _values(statement: Node, place: Place) -> Ranked:
    """The branch's own statement with another value in it → how likely."""
    found: Ranked = {}
    value = next((n for n in statement.walk() if n.kind in {"string", "integer", "float"}), None)
    if value is None:
        return {dedented(statement): 0.5}
    text, cut = statement.text.rstrip(), (value.start - statement.start, value.end - statement.start)
    raw = text.encode()
    kinds = (str,) if value.kind == "string" else (int, float)
    wanted = [v for v in place.hints.examples.expected if type(v) in kinds]
    options = [*wanted[:4], *(v for v, _ in best(numbers(place.hints), 4) if kinds != (str,))]
    for index, new in enumerate(options):
        line = (raw[: cut[0]] + written(value, new).encode() + raw[cut[1] :]).decode("utf-8", "replace")
        found.setdefault(line, max(0.3, 1.0 - 0.15 * index))
    if "\n" not in text:
        found.setdefault(text, 0.2)
    return found


def case(node: Node, place: Place) -> Iterator[Proposal]:
    """`case "a":` → `case "a" | "b":`."""
    pattern = next((c for c in node.parts if c.kind == "case_pattern"), None)
    key = next((n for n in pattern.walk() if n.kind == "string"), None) if pattern is not None else None
    if pattern is None or key is None:
        return
    old = str(literal(key))
    ranked: Ranked = {v: w * fit(str(v), [old]) for v, w in texts(place.hints).items() if v != old}
    for new, weight in best(ranked, KEYS):
        yield put("element.widen", pattern, f"{pattern.text} | {written(key, new)}", weight)


def member(node: Node, place: Place) -> Iterator[Proposal]:
    """`RED = "red"` in a class → `BLUE = "blue"` after the last of its like, where a test asks for it."""
    owner = next((n for n in node.ancestors() if n.kind == "class_definition"), None)
    value = node.parts[0] if node.parts else None
    left, right = (
        (value.get("left"), value.get("right"))
        if value is not None and value.kind == "assignment"
        else (None, None)
    )
    if (
        owner is None
        or place.function is not None
        or left is None
        or right is None
        or left.kind != "identifier"
    ):
        return
    like = [
        s
        for s in siblings(node)
        if s.parts and s.parts[0].kind == "assignment" and s.parts[0].get("left") is not None
    ]
    if like[-1] is not node:
        return
    held = {part.text for s in like if (part := s.parts[0].get("left")) is not None}
    for name, weight in _members(left.text, place):
        if name in held:
            continue
        for text, share in _member_values(name, right, like, place):
            made = after("member.more", node, f"{name} = {text}", weight * share)
            if made is not None:
                yield made


def _members(like: str, place: Place) -> Iterator[tuple[str, float]]:
    """Names that a member more may have."""
    asked = [
        w
        for error in place.hints.examples.errors
        for found in _UNKNOWN_MEMBER.findall(error)
        for w in found
        if w
    ]
    for weight, pool in ((1.0, asked), (0.5, [str(t) for t, _ in best(texts(place.hints), 6)])):
        for word in dict.fromkeys(pool):
            name = re.sub(r"\W+", "_", word).strip("_")
            name = name.upper() if like.isupper() else name
            if name.isidentifier():
                yield name, weight


def _member_values(name: str, right: Node, like: list[Node], place: Place) -> Iterator[tuple[str, float]]:
    if right.kind == "call":
        yield right.text, 1.0  # auto(), field()
    elif right.kind == "string":
        shown = [
            str(t)
            for t, _ in best(texts(place.hints), 40)
            if str(t).lower().replace("-", "_") == name.lower()
        ]
        plain = str(literal(right))
        yield written(right, shown[0] if shown else name.upper() if plain.isupper() else name.lower()), 1.0
    elif right.kind == "integer":
        held = [literal(v) for s in like if (v := s.parts[0].get("right")) is not None]
        whole = [v for v in held if isinstance(v, int)]
        if whole:
            yield str(max(whole) + 1), 1.0
        if len(whole) > 2 and all(v & (v - 1) == 0 for v in whole):
            yield str(max(whole) * 2), 1.0
    elif right.kind in {"none", "true", "false", "list", "dictionary"}:
        yield right.text, 0.8


TABLE: Table = {
    "if_statement": (branch,),
    "elif_clause": (branch,),
    "case_clause": (case,),
    "expression_statement": (member,),
}
