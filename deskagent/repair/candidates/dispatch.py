"""A kind of value that nobody thought of: one more `isinstance` branch beside its like, or the value made what is
wanted first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from deskagent.repair.candidates.base import Place, Proposal, Table, arguments, called_name
from deskagent.repair.candidates.blocks import after, alone, before, below, dedented
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import CLAUSES, block

KINDS = ("bytes", "dict", "bool", "list", "tuple", "set", "int", "float", "str")
_TYPES: dict[type, str] = {bytes: "bytes", dict: "dict", bool: "bool", list: "list", tuple: "tuple", set: "set",
                           frozenset: "frozenset", int: "int", float: "float", str: "str"}  # fmt: skip
_NAMED_KIND = re.compile(
    r"'(\w+)' object|(?:not|got|found|by|type) '?(?:<class ')?(\w+)'?\b|type '(\w+)'|<class '(\w+)'>"
)
_GIVES = {
    "bool": ('"true" if {0} else "false"', '"yes" if {0} else "no"', "str({0}).lower()", "int({0})", "str({0})"),
    "bytes": ("{0}.decode()", '{0}.decode("utf-8")'), "str": ("{0}",), "int": ("str({0})",),
    "float": ("str({0})", "repr({0})"), "dict": ("dict({0})",), "list": ("list({0})",), "tuple": ("tuple({0})",),
    "set": ("sorted({0})", "list({0})"), "frozenset": ("sorted({0})", "list({0})"),
}  # fmt: skip
_MOST_BODIES = 6


def named_kinds(errors: Iterable[str]) -> dict[str, None]:
    """The kinds of value that errors name, each once, in their order."""
    found = [groups for error in errors for groups in _NAMED_KIND.findall(error)]
    return dict.fromkeys(next(filter(None, groups), "") for groups in found)


def shown_kinds(place: Place) -> dict[str, float]:
    """Kinds of value that the failing tests hand in, or that an error names → how much speaks for them."""
    found = {kind: 1.0 for kind in named_kinds(place.hints.examples.errors[:6]) if kind in KINDS}
    weight = 0.9
    for value in place.hints.examples.given[:12]:
        kind = _TYPES.get(type(value), "")
        if kind and kind not in found:
            found[kind] = weight * (0.5 if kind in {"str", "int"} else 1.0)
            weight *= 0.9
    return found


def _tested(condition: Node | None) -> tuple[str, str]:
    """(what is tested, the kinds) of `isinstance(x, K)`."""
    if condition is None or condition.kind != "call" or called_name(condition) != "isinstance":
        return "", ""
    given = arguments(condition)
    return (given[0].text, given[1].text) if len(given) == 2 else ("", "")


def branch(node: Node, place: Place) -> Iterator[Proposal]:
    """`if isinstance(x, K): …` → the same for another kind, before the first of its like or after the last."""
    name, _ = _tested(node.get("condition"))
    body = block(node)
    if not name or body is None or body.row == node.row or place.function is None or not body.parts:
        return
    chain = [n for n in place.scope_nodes if n.kind in {"if_statement", "elif_clause"}
             and _tested(n.get("condition"))[0] == name]  # fmt: skip
    held = " ".join(_tested(n.get("condition"))[1] for n in chain)
    for kind, strength in shown_kinds(place).items():
        if re.search(rf"\b{kind}\b", held) or kind not in KINDS:
            continue
        for index, text in enumerate(_bodies(kind, name, chain, place)):
            weight = strength * 0.9**index
            yield from _beside(node, chain, f"isinstance({name}, {kind})", text, kind, weight)


def _bodies(kind: str, name: str, chain: list[Node], place: Place) -> list[str]:
    """What the branch may do: as its like do with the value turned into theirs, or what is made of such a value."""
    found: dict[str, None] = {}
    for link in chain:
        body = block(link)
        parts = body.parts if body is not None else []
        if not parts or len(parts) > 2 or body is None or body.row == link.row or body.end - body.start > 200:
            continue
        text = "\n".join(dedented(part) for part in parts)
        word = re.escape(name)
        last = parts[-1]
        if kind == "dict":
            for part in body.walk():
                if part.kind == "for_in_clause" and (right := part.get("right")) and right.text == name:
                    for method in ("values", "items"):
                        found[re.sub(rf"\bin {word}\b", f"in {name}.{method}()", text)] = None
        head = _head(last)
        given = [
            f"{{0}}.decode({n.text})" for n in place.own_variables if kind == "bytes" and "encod" in n.text
        ]
        for made in (*given, *_GIVES.get(kind, ())) if head else ():
            found[f"{head}{made.format(name)}"] = None
        if head and (f"{name}." not in text or kind not in {"dict", "bool"}):
            found[text] = None
    return list(found)[:_MOST_BODIES]


def _head(statement: Node) -> str:
    """`return ` or `x = `, where the statement gives the branch's result."""
    if statement.kind == "return_statement" and statement.parts:
        return "return "
    value = statement.parts[0] if statement.parts else None
    left = value.get("left") if value is not None and value.kind == "assignment" else None
    return f"{left.text} = " if left is not None else ""


def _beside(
    node: Node, chain: list[Node], condition: str, text: str, kind: str, weight: float
) -> Iterator[Proposal]:
    unit = node.syntax.unit
    inner = "\n".join(f"{unit}{line}" for line in text.split("\n"))
    first = kind in {"bool", "str", "bytes"}
    if node.kind == "if_statement" and node is chain[0] and _linked(node):  # its `if` becomes an `elif`
        at = node.start
        indent = node.syntax.indent(node)
        lines = f"if {condition}:\n" + "\n".join(indent + line for line in inner.split("\n"))
        note = f"first {condition}: {text[:40]}"
        share = 1.0 if first else 0.4
        yield Proposal("clause.kind", weight * share, ((at, at, f"{lines}\n{indent}el"),), note)
    elif node.kind == "if_statement" and node is chain[0] and alone(node):
        made = before("clause.kind", node, f"if {condition}:\n{inner}", weight * (1.0 if first else 0.5))
        if made is not None:
            yield made
    body = block(node)
    if body is None or node is not chain[-1]:
        return
    linked = node.kind == "elif_clause" or any(c.kind == "else_clause" for c in node.children)
    for word in ("elif",) if linked else ("if", "elif"):
        syntax = node.syntax
        at = below(body)
        indent = syntax.indent(node)
        lines = f"{word} {condition}:\n{inner}"
        piece = "\n" + "\n".join(indent + line for line in lines.split("\n"))
        share = 0.9 if kind != "bool" else 0.4
        yield Proposal("clause.kind", weight * share * (0.7 if word == "elif" and not linked else 1.0),
                       ((at, at, piece),), f"{word} {condition}: {text[:40]}")  # fmt: skip


def _linked(node: Node) -> bool:
    return any(child.kind in CLAUSES for child in node.children)


def otherwise(node: Node, place: Place) -> Iterator[Proposal]:
    """A chain of branches that all give one name a value has no `else`, and the name none then."""
    if node.kind != "if_statement" or place.function is None:
        return
    links = [node, *(c for c in node.children if c.kind == "elif_clause")]
    if len(links) < 2 or any(c.kind == "else_clause" for c in node.children):
        return
    bodies = [block(link) for link in links]
    lasts = [body.parts[-1] for body in bodies if body is not None and body.parts]
    heads = {_head(last) for last in lasts}
    if len(lasts) != len(links) or len(heads) != 1 or heads <= {"", "return "}:
        return
    head = heads.pop()
    lost = head.split(" ")[0] in place.hints.missing
    condition = node.get("condition")
    named = [n.text for n in condition.walk() if n.kind == "identifier"] if condition is not None else []
    subject = _tested(condition)[0] or next(iter(named), "")
    values = dict.fromkeys(
        [f"str({subject})", subject, "None", '""', "[]", "0", "{}", "False"] if subject else ["None"]
    )
    for wanted in place.hints.examples.expected[:3]:
        if isinstance(wanted, str | int | float | bool) and len(repr(wanted)) < 40:
            values.setdefault(repr(wanted))
    options = [f"{head}{value}" for value in values]
    options += [
        f"raise {name}({subject})" for name in sorted(place.hints.exceptions & {"ValueError", "TypeError"})
    ]
    for index, text in enumerate(options):
        made = after(
            "clause.else", node, f"else:\n{place.syntax.unit}{text}", (1.0 if lost else 0.4) * 0.9**index
        )
        if made is not None:
            yield made


TABLE: Table = {"if_statement": (branch, otherwise), "elif_clause": (branch,)}
