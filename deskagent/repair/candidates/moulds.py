"""What a file asks of its values and what it makes of them, as moulds: an expression with one value left open, which
the values at hand are then put in. `isinstance(node, Leaf)` somewhere gives `isinstance(…, Leaf)` everywhere."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest

from deskagent.repair.candidates.base import ATOM, BUILTINS, PRECEDENCE, Place, is_value, precedence
from deskagent.repair.nodes import Node
from deskagent.repair.syntax import block

MAX_MOULDS, MAX_VALUES, MAX_LENGTH, MAX_WHOLE = 60, 10, 60, 30
_NOT, _COMPARED = PRECEDENCE["not_operator"], PRECEDENCE["comparison_operator"]
_PLAIN = frozenset({"identifier", "attribute"})
_SPREAD = frozenset({"keyword_argument", "list_splat", "dictionary_splat"})
_CONSTANT = frozenset({"string", "integer", "float", "true", "false", "none"})
_TRUTH = frozenset(
    {"if_statement", "elif_clause", "while_statement", "boolean_operator", "not_operator", "if_clause"}
)
_ASKED = frozenset({"attribute", "call", "comparison_operator", "not_operator"})
_MAKERS = ("str", "int", "list", "tuple", "bool", "dict", "set", "sorted", "float")


@dataclass(frozen=True, slots=True)
class Mould:
    """An expression open in one place. names: what it reads besides. level: how tightly it binds."""

    head: str
    tail: str
    names: frozenset[str]
    level: int

    def of(self, value: str) -> str:
        return f"{self.head}{value}{self.tail}"


Weighed = list[tuple[str, float, int]]
"""Expression, its weight among its like, how tightly it binds; the likeliest first."""
_ASKED_ANYWHERE = tuple(
    (Mould(head, tail, frozenset(), level), weight)
    for head, tail, level, weight in (
        ("", "", ATOM, 0.8), ("not ", "", _NOT, 0.8), ("", " is None", _COMPARED, 0.8),
        ("", " is not None", _COMPARED, 0.8),
    )
)  # fmt: skip
_MADE_ANYWHERE = tuple((Mould(f"{name}(", ")", frozenset(), ATOM), 0.25) for name in _MAKERS)


def asking(place: Place) -> list[tuple[Mould, float]]:
    """Moulds of conditions whose other names can be read at the place."""
    return _known("asking", place)


def making(place: Place) -> list[tuple[Mould, float]]:
    """Moulds of calls that make one value out of another."""
    return _known("making", place)


def values(place: Place) -> list[tuple[str, float]]:
    """What may be asked at a place: the statement's own values, those of the branch it opens, the function's."""
    known = place.memo.get("mould values")
    if isinstance(known, list):
        return known
    found: dict[str, float] = {}

    def see(nodes: list[Node], weight: float) -> None:
        for node in nodes:
            if node.kind in _PLAIN and node.end - node.start <= 30 and node.text not in {"self", "cls"}:
                root = place.names.get(node.text.partition(".")[0])
                called = node.parent is not None and node.parent.kind == "call" and node.field == "function"
                if root is None or called or root.origin in {"definition", "import"} or not _read(node):
                    continue
                found[node.text] = max(weight, found.get(node.text, 0.0))

    see(place.nodes, 1.0)
    body = block(place.statement) or place.statement.get("consequence")
    if body is not None and place.statement.kind in _TRUTH:
        see(list(body.walk())[:200], 0.6)
    for name in place.own_variables:
        idle = name.origin == "parameter" and not name.reads
        found.setdefault(name.text, 0.9 if idle else 0.4 if name.origin == "parameter" else 0.3)
    see([node for node in place.scope_nodes if node.kind == "attribute"][:300], 0.2)
    kept = nlargest(MAX_VALUES, found.items(), key=lambda item: item[1])
    place.memo["mould values"] = kept
    return kept


def conditions(place: Place, most: int) -> Weighed:
    """What may be asked at a place, as the file asks elsewhere."""
    known = place.memo.get("mould conditions")
    if not isinstance(known, list):
        found: dict[str, tuple[float, int]] = {}
        for value, near in values(place):
            for mould, likely in asking(place):
                text = mould.of(value)
                if near * likely > found.get(text, (0.0, 0))[0]:
                    found[text] = near * likely, mould.level
        for text, weight, level in _asked_whole(place):
            if weight > found.get(text, (0.0, 0))[0]:
                found[text] = weight, level
        rows = [(text, weight, level) for text, (weight, level) in found.items()]
        known = place.memo["mould conditions"] = nlargest(MAX_MOULDS, rows, key=lambda row: row[1])
    return known[:most]


def _asked_whole(place: Place) -> Iterator[tuple[str, float, int]]:
    """What the file asks elsewhere as it stands, where all that it asks of can be read here, too: `self.strict`."""
    memo = place.scopes.memo.setdefault(place.syntax.root, {})
    if "asked whole" not in memo:
        memo["asked whole"] = _whole_of_file(place.syntax.root)
    own = {name.text for name in place.own_variables} | {"self"}
    here = [
        row for row in memo["asked whole"] if all(name in place.names or name in BUILTINS for name in row[2])
    ]
    for text, level, names, count in here[:MAX_WHOLE]:
        yield text, min(0.9, 0.4 + 0.15 * math.log2(count)) * (1.0 if names & own else 0.6), level


def _whole_of_file(root: Node) -> list[tuple[str, int, frozenset[str], int]]:
    """Conditions and their terms: text, how tightly they bind, the names that they read, how often they stand there."""
    count: Counter[str] = Counter()
    first: dict[str, Node] = {}
    for node in root.walk():
        parent = node.parent
        if (
            parent is None
            or not node.named
            or parent.kind not in _TRUTH
            or node.end - node.start > MAX_LENGTH
        ):
            continue
        if node.kind in _ASKED and (
            parent.kind in {"boolean_operator", "not_operator"} or node.field == "condition"
        ):
            count[node.text] += 1
            first.setdefault(node.text, node)
    return [
        (text, precedence(first[text]), _names_read(first[text]), times)
        for text, times in count.most_common(200)
    ]


def _names_read(node: Node) -> frozenset[str]:
    return frozenset(
        part.text
        for part in node.walk()
        if part.kind == "identifier"
        and not (part.parent is not None and part.parent.kind == "attribute" and part.field == "attribute")
        and not (part.parent is not None and part.parent.kind == "keyword_argument" and part.field == "name")
    )


def _read(node: Node) -> bool:
    if is_value(node):
        return True
    parent = node.parent
    return (
        parent is not None
        and parent.kind in {"attribute", "subscript", "interpolation"}
        and node.field in {"object", "value", "expression"}
    )


def _known(what: str, place: Place) -> list[tuple[Mould, float]]:
    kept = place.shared.get(what)
    if kept is None:
        anywhere = _ASKED_ANYWHERE if what == "asking" else _MADE_ANYWHERE
        names = place.names
        merged = dict(anywhere)
        for mould, weight in _of_file(what, place):
            if all(name in names or name in BUILTINS for name in mould.names):
                merged[mould] = max(weight, merged.get(mould, 0.0))
        kept = place.shared[what] = nlargest(MAX_MOULDS, merged.items(), key=lambda item: item[1])
    return kept


def _of_file(what: str, place: Place) -> list[tuple[Mould, float]]:
    """A file's moulds, those that occur more often first. Conditions and calls are read in one go."""
    memo = place.scopes.memo.setdefault(place.syntax.root, {})
    if "moulds" not in memo:
        asked: Counter[Mould] = Counter()
        made: Counter[Mould] = Counter()
        for node in place.syntax.root.walk():
            if node.end - node.start > MAX_LENGTH:
                continue
            if node.kind == "comparison_operator" or (
                node.kind == "call"
                and node.parent is not None
                and node.parent.kind in _TRUTH
                and node.field != "body"
            ):
                asked.update(_opened(node))
            if node.kind == "call":
                made.update(_calls(node))
        memo["moulds"] = {
            name: [(mould, min(1.0, 0.3 * math.log2(1 + count))) for mould, count in found.most_common(300)]
            for name, found in (("asking", asked), ("making", made))
        }
    return memo["moulds"][what]


def _opened(node: Node) -> Iterator[Mould]:
    """A condition with the value that it asks of left open: `x.kind == 3` gives `… == 3` and `….kind == 3`."""
    part: Node | None = node
    while part is not None:
        if part.kind in _PLAIN and part is not node and part.text not in {"self", "cls"}:
            yield _mould(node, part)
        if part.kind == "comparison_operator":
            part = part.parts[0] if part.parts else None
        elif part.kind == "call":
            function, given = part.get("function"), part.get("arguments")
            if function is not None and function.kind == "attribute":
                part = function.get("object")
            else:
                part = (
                    given.parts[0]
                    if given is not None and given.kind == "argument_list" and given.parts
                    else None
                )
        else:
            part = (
                part.get("object") or part.get("value") if part.kind in {"attribute", "subscript"} else None
            )


def _calls(node: Node) -> Iterator[Mould]:
    """A call with its first value, or the value whose method it is, left open; whatever else it takes is constant."""
    function, given = node.get("function"), node.get("arguments")
    if function is None or given is None or given.kind != "argument_list" or len(given.parts) > 2:
        return
    if function.kind == "attribute" and all(part.kind in _CONSTANT for part in given.parts):
        owner = function.get("object")
        if owner is not None:
            yield _mould(node, owner)
    values_ = [part for part in given.parts if part.kind not in _CONSTANT]
    if len(values_) == 1 and values_[0] is given.parts[0] and values_[0].kind not in _SPREAD:
        yield _mould(node, values_[0])


def _mould(node: Node, hole: Node) -> Mould:
    source = node.syntax.source.utf8
    head, tail = (
        source[a:b].decode("utf-8", "replace") for a, b in ((node.start, hole.start), (hole.end, node.end))
    )
    names = frozenset(
        part.text for part in node.walk()
        if part.kind == "identifier" and not (hole.start <= part.start < hole.end)
        and not (part.parent is not None and part.parent.kind == "attribute" and part.field == "attribute")
        and not (part.parent is not None and part.parent.kind == "keyword_argument" and part.field == "name")
    )  # fmt: skip
    return Mould(head, tail, names, precedence(node))
