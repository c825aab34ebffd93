"""Definitions and names of one source file, by its grammar's query.

One pass of the query's cursor, in C, finds everything; Python sees captures alone, never the nodes between.
What a hostile or garbled file could cost is bounded: parsing by the clock, the query by the shape of the tree
(a run of stray tokens below one error node takes the cursor quadratic time, and it can't be interrupted).
"""

from __future__ import annotations

import gc
import re
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deskagent.repo.languages import Language, tools

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, QueryCursor, Tree

PARSE_SECONDS = 2.0
"""Processor time of one parse; the largest files that people write take a tenth of it."""

_CHUNK = 1 << 16
_STRAY_SQUARED = 10_000_000  # sum over error nodes of their children squared: about 0.1 s of querying
_MATCH_LIMIT = 4096  # patterns that may be half matched at once
_NAME_BYTES = 200
_SIGNATURE = 200
_CONTAINERS = {"class", "interface", "struct", "enum", "scope"}
_NAME_FIELDS = ("name", "left", "declarator", "attribute", "property", "key", "field", "type")
_KINDS = (
    *("function", "method", "class", "interface", "struct", "enum", "module", "macro"),
    *("constant", "field", "type", "variable", "scope"),
)
_ASSIGNMENTS = {"assignment", "assignment_expression"}
_SELF = (b"self.", b"this.")
_WRAPPERS = {"reference_declarator", "parenthesized_declarator"}
_WORD = re.compile(rb"~?\w[\w$]*|[$#][\w$]+|operator\W+")
_PARTS = re.compile(rb"::|\.")
_RECEIVER = re.compile(rb"\*?\s*([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$")
_SPACE = re.compile(r"\s+")


class Unparsable(Exception):
    """The file's symbols aren't worth what they would cost; the message says why."""


@dataclass(frozen=True)
class Symbol:
    """A definition. Lines count from 1, both ends included; `qualified` is dotted, within the file."""

    kind: str
    name: str
    qualified: str
    line: int
    end_line: int
    signature: str


@dataclass(frozen=True)
class Symbols:
    """A file's definitions in their order, and for every name the lines where it is called or merely stands."""

    definitions: list[Symbol] = field(default_factory=list)
    calls: dict[str, array[int]] = field(default_factory=dict)
    refs: dict[str, array[int]] = field(default_factory=dict)


def extract(source: bytes, language: Language) -> Symbols:
    """The symbols of `source` (UTF-8); none if the language's wheel is missing. Unparsable."""
    found = tools(language)
    if found is None:
        return Symbols()
    from tree_sitter import Parser, QueryCursor

    grammar, query = found
    with _no_collection():
        return _extract(source, Parser(grammar), QueryCursor(query, match_limit=_MATCH_LIMIT))


def _extract(source: bytes, parser: Parser, cursor: QueryCursor) -> Symbols:
    try:
        tree = parser.parse(_reader(source), progress_callback=_deadline())
    except ValueError:  # how the binding says that the callback broke it off
        raise Unparsable(f"took more than {PARSE_SECONDS:.0f} s to parse") from None
    if tree.root_node.has_error:
        _check_shape(tree)
    captures = cursor.captures(tree.root_node)
    definitions, named = _definitions(source, captures)
    called = captures.get("call", [])
    positions = {node.start_byte for node in called} | named
    refs = [node for node in captures.get("ref", []) if node.start_byte not in positions]
    return Symbols(definitions, _by_name(source, called), _by_name(source, refs))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Holds off the cycle collector, which would walk over every captured node again and again, for nothing."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _reader(source: bytes) -> Callable[[int, object], bytes]:
    return lambda offset, _point: source[offset : offset + _CHUNK]


def _deadline() -> Callable[[int, bool], bool]:
    end = time.thread_time() + PARSE_SECONDS
    return lambda _offset, _error=False: time.thread_time() > end


def _check_shape(tree: Tree) -> None:
    """Raises Unparsable if error nodes have so many children that the query would take seconds."""
    cursor = tree.walk()
    weight = 0
    while True:
        node = cursor.node
        if node is not None and node.has_error:
            if node.is_error:
                weight += node.child_count**2
                if weight > _STRAY_SQUARED:
                    raise Unparsable("garbled: too many stray tokens")
            if cursor.goto_first_child():
                continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _by_name(source: bytes, nodes: list[Node]) -> dict[str, array[int]]:
    lines: dict[bytes, list[int]] = {}
    for node in nodes:
        name = source[node.start_byte : node.end_byte]
        if name in lines:
            lines[name].append(node.start_point[0] + 1)
        else:
            lines[name] = [node.start_point[0] + 1]
    return {
        name.decode("utf-8", "replace"): array("I", sorted(found))  # captures come in no order
        for name, found in lines.items()
        if len(name) <= _NAME_BYTES
    }


def _definitions(source: bytes, captures: dict[str, list[Node]]) -> tuple[list[Symbol], set[int]]:
    """The definitions, outer before inner, and where their names start."""
    found: dict[int, tuple[int, str, Node]] = {}
    for kind in _KINDS:
        for node in captures.get(kind, ()):  # a node that two patterns capture is of the first kind
            found.setdefault(node.id, (node.start_byte, kind, node))
    definitions: list[Symbol] = []
    named: set[int] = set()
    fields: set[str] = set()
    outer: list[tuple[int, str, str]] = []  # end, qualified name and kind of what is open
    for start, kind, node in sorted(found.values(), key=lambda item: (item[0], -item[2].end_byte)):
        while outer and outer[-1][0] <= start:
            outer.pop()
        leaf = _name_node(node)
        name = source[leaf.start_byte : leaf.end_byte] if leaf else b""
        parts = [part.strip() for part in _PARTS.split(name)] if len(name) <= _NAME_BYTES else []
        if leaf is None or not parts or not all(_WORD.fullmatch(part) for part in parts):
            continue
        named.add(leaf.end_byte - len(parts[-1]))
        around = outer
        if kind == "field" and node.type in _ASSIGNMENTS and leaf.start_byte != start:
            if not source.startswith(_SELF, start):
                continue
            # self.x belongs to the class, not to the method
            around = [scope for scope in outer if scope[2] in _CONTAINERS]
        before = [around[-1][1]] if around else []
        before += _receiver(source, node)
        qualified = ".".join([*before, *(part.decode("utf-8", "replace") for part in parts)])
        if kind == "function" and outer and outer[-1][2] in _CONTAINERS:
            kind = "method"
        if kind == "field":
            if qualified in fields:
                continue
            fields.add(qualified)
        elif kind != "type":
            outer.append((node.end_byte, qualified, kind))
        if kind != "scope":
            text = parts[-1].decode("utf-8", "replace")
            first, (last, column) = node.start_point[0] + 1, node.end_point
            last += column > 0 or last < first  # a macro's end is the start of the line below
            definitions.append(Symbol(kind, text, qualified, first, last, _signature(source, node)))
    return definitions, named


def _name_node(node: Node) -> Node | None:
    """The node of a definition's name: down the fields that lead to it. C++'s `A::f` is kept whole."""
    for _ in range(16):
        if node.type.endswith("identifier"):
            return node
        for name in _NAME_FIELDS:
            inner = node.child_by_field_name(name)
            if inner is not None:
                break
        else:
            inner = node.named_child(0) if node.type in _WRAPPERS else None
            if inner is None:
                return node
        node = inner
    return None


def _receiver(source: bytes, node: Node) -> Iterator[str]:
    """The type that a Go method belongs to."""
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and (found := _RECEIVER.search(source[receiver.start_byte : receiver.end_byte])):
        yield found[1].decode("utf-8", "replace")


def _signature(source: bytes, node: Node) -> str:
    """The definition's text up to its body, on one line."""
    body = node.child_by_field_name("body")
    if body is None and (value := node.child_by_field_name("value")) is not None:
        body = value.child_by_field_name("body")
    end = body.start_byte if body is not None else min(node.end_byte, node.start_byte + 4 * _SIGNATURE)
    head = source[node.start_byte : min(end, node.start_byte + 8 * _SIGNATURE)].decode("utf-8", "ignore")
    if body is None:
        head = head.partition("\n")[0]
    head = _SPACE.sub(" ", head).strip().removesuffix("{").rstrip(" :=;,").removesuffix("=>").rstrip()
    return head if len(head) <= _SIGNATURE else f"{head[: _SIGNATURE - 1]}…"
